(** What a program can say to memtrail, the memory profiler, while it is recorded.

    Nothing here is needed to record a program: [memtrail run -- PROGRAM] is. Under it, the functions
    below take effect. Otherwise they do nothing, cost a few nanoseconds, and change nothing.

    All of it works from any thread and any domain, except where it is said. *)

(** {1 Heap snapshots} *)

val dump : string -> unit
(** [dump label] takes a heap snapshot, now. It holds everything that this point of the program could
    see, and [label] is its name in [memtrail heap info] and in [recording.json].

    The program stands still for the time that copying its page tables takes (milliseconds for a
    gigabyte); the copy writes the snapshot beside the running program, and goes on if that is killed.
    Four can be written at once: one more waits. It works under any [memtrail run], with and without its [--snapshot]. *)

(** {1 Sampling} *)

val start : unit -> unit
(** Samples of allocations are recorded from now on. They are when a program starts. *)

val stop : unit -> unit
(** No samples are recorded from now on, and those taken so far are in the trace. Blocks that were
    sampled are still followed. A program that is interested in one phase stops at its beginning, and
    starts when the phase does. *)

val currently_tracing : unit -> bool
(** Whether samples are recorded. *)

(** {1 Names for what the program is doing} *)

val with_label : string -> (unit -> 'a) -> 'a
(** [with_label label f] is [f ()]. In the callstacks of what is allocated meanwhile, [[label]] stands
    between the caller of [with_label] and [f]: flame graphs, [--by function] and filters show it as
    they show a function.

    The label belongs to the call, as its frame on the stack does. It ends with a return or an
    exception; threads and domains have their own; with effects, it is captured and resumed with the
    computation. It does not follow work that is merely {e begun} inside, such as a thread that is
    created, or a promise of Lwt that is still pending when [f] returns.

    There are some 32,000 labels; more share one name. Labels are kept for the life of the process, so
    that they should name kinds of work, not single requests. The first 200 bytes count. *)

(** {1 Memory outside the OCaml heap} *)

module External : sig
  (** C code's memory, GPU buffers, mappings: whatever the program reports is in the trace as an
      {e external} allocation, with the callstack that reports it. Bigarrays and other custom blocks
      that tell the runtime their size need no report. *)

  type token
  (** Stands for memory that was sampled. *)

  external alloc : bytes:int -> token option = "memtrail_external_alloc"
  (** So many bytes were allocated. Only a sample of the calls gives a token, in proportion to the
      bytes. *)

  external free : token -> unit = "memtrail_external_free"
  (** The memory was freed. *)
end

(** {1 What keeps memory alive, at once}

    For everything else there are heap snapshots, which are exact and give retained sizes. These three
    print while the program waits. Each root is measured by itself, with [Obj.reachable_words]: what
    several reach counts for each of them, and takes time for each. *)

val print_global_reachable : out_channel -> int -> unit
(** [print_global_reachable channel limit] prints each field of each module that reaches more than
    [limit] words: how many, the field's number, the module. Units loaded by [Dynlink] are not among
    them. *)

val get_field_index : Obj.t -> int
(** The number of the module's field that holds this very value, to find out which field a variable of
    a module is: [get_field_index (Obj.repr cache)]. Where several do, that of the module linked first;
    [-1] if none does. *)

val print_stack_reachable : out_channel -> int -> unit
(** [print_stack_reachable channel limit] prints for each frame of the running thread's stack, the
    innermost first, the values of it that reach more than [limit] words. *)

(** {1 In place of memtrace}

    A program that was written for Jane Street's memtrace works with [Memtrail] in place of [Memtrace],
    and gets the same kind of trace. *)

type tracer

val trace_if_requested : ?context:string -> ?sampling_rate:float -> unit -> unit
(** If the environment variable [MEMTRACE] names a file, the program is recorded as that file: to be
    called at the very start, before the program does anything.

    A program cannot be recorded from the middle, so it begins anew: it is replaced by [memtrail run] on
    itself, with the same arguments. What ran before this call runs twice. The recording is the folder
    [FILE.memtrail] (or [FILE-2.memtrail] and so on, if there is one already), and the file is a link to
    the trace in it. Without a [memtrail] on the [PATH], a line on standard error says so and the
    program goes on. A program that is recorded already is left alone. [MEMTRACE] is set to the empty
    string in any case, so that programs started from here are not traced too.

    [MEMTRACE_RATE], or else [sampling_rate], is the rate, in samples per word: above 0 and at most 1.
    @raise Invalid_argument if it is not. *)

val start_tracing :
  context:string option -> sampling_rate:float -> filename:string -> tracer
(** {!start}. What is recorded, at which rate and where to, is what [memtrail run] was told: the
    arguments are ignored. Without [memtrail run] a line on standard error says so, once. *)

val stop_tracing : tracer -> unit
(** {!stop}. *)

val default_sampling_rate : float
(** [memtrail run]'s own: 1e-4. *)
