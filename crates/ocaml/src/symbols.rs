//! Names of everything that is looked up in the runtime, grouped by what it is for.

/// What tells one version from another (see [`crate::version::detect`]).
pub mod fingerprint {
    /// 4.10 to 4.14: pointer to the only state (`runtime/caml/domain_state.h`).
    pub const STATE_SINGLE: &str = "Caml_state";
    /// 5.0 and later: thread-local pointer to the domain's state (`runtime/domain.c`).
    pub const STATE_MULTICORE: &str = "caml_state";
    /// Exported by all runtimes; alone it means one from before 4.10, when there was no state structure.
    pub const BEFORE_STATE: &str = "caml_startup";
    /// Native code's way into and out of OCaml (`runtime/amd64.S`, `runtime/arm64.S`); the interpreter has neither.
    pub const NATIVE: [&str; 2] = ["caml_start_program", "caml_c_call"];
    /// Only in bytecode runtimes (`runtime/interp.c`, `runtime/fix_code.c`), `-custom` and `-output-complete-exe` too.
    pub const BYTECODE: &str = "caml_thread_code";
    /// Stack allocation, in `OxCaml` and its flambda-backend predecessors only.
    pub const OXCAML: [&str; 3] =
        ["caml_alloc_local", "caml_local_realloc", "caml_call_local_realloc"];
    /// `runtime/memprof.c`; 4.10 has `caml_memprof_set` instead. Programs of 5.0 and 5.1 are mostly without.
    pub const SAMPLER: &str = "caml_memprof_start";
    /// `runtime/signals.c`; gone in 4.12.
    pub const UNTIL_4_11: &str = "caml_try_leave_blocking_section_hook";
    /// `runtime/memprof.c`: contexts of threads.
    pub const SINCE_4_12: &str = "caml_memprof_main_ctx";
    /// `runtime/startup_aux.c`; static before.
    pub const SINCE_4_13: &str = "caml_init_policy";
    /// `runtime/signals_nat.c`.
    pub const SINCE_4_14: &str = "caml_terminate_signals";
    /// `runtime/backtrace_nat.c`: 4.x's hash table of frame descriptors.
    pub const FRAME_TABLE_SINGLE: &str = "caml_frame_descriptors";
    /// `runtime/frame_descriptors.c`: the same in 5.x.
    pub const FRAME_TABLE_MULTICORE: &str = "caml_get_frame_descrs";
    /// `runtime/globroots.c`, in native code only; 5.1 replaced it by its plural.
    pub const UNTIL_5_0: &str = "caml_register_dyn_global";
    /// `runtime/runtime_events.c`: events of the program's own.
    pub const SINCE_5_1: &str = "caml_runtime_events_user_register";
    /// `runtime/domain.c`.
    pub const SINCE_5_2: &str = "caml_interrupt_all_signal_safe";
    /// `runtime/memprof.c`: here the sampler works.
    pub const SINCE_5_3: &str = "caml_memprof_run_callbacks_res";
    /// `runtime/gc_ctrl.c`: `Gc.ramp_up`.
    pub const SINCE_5_4: &str = "caml_gc_ramp_up";
    /// `runtime/domain.c`: threads that C registers in a domain of their choice.
    pub const SINCE_5_5: &str = "caml_find_index_of_running_domain";
}

/// Sampling.
pub mod memprof {
    /// `value f(value rate, value frames, value tracker)`.
    pub const START: &str = "caml_memprof_start";
    /// `value f(value unit)`.
    pub const STOP: &str = "caml_memprof_stop";
    /// 5.2 and later: `value f(value profile)`.
    pub const DISCARD: &str = "caml_memprof_discard";
    /// 5.4 and later: `value f(value unit)`.
    pub const IS_SAMPLING: &str = "caml_memprof_is_sampling";
    /// 5.3 and later: `void f(value block, size_t allocated_words, size_t sampled_words, int source)`.
    pub const SAMPLE_BLOCK: &str = "caml_memprof_sample_block";
    /// 5.2 and later: `void f(caml_domain_state *parent, caml_domain_state *)`, makes the sampler of a new domain.
    pub const NEW_DOMAIN: &str = "caml_memprof_new_domain";
    /// 4.11 only: `int`, set while a callback runs.
    pub const SUSPENDED: &str = "caml_memprof_suspended";
    /// 4.x: data, pointer into the minor heap: behind the next word there that is sampled.
    pub const YOUNG_TRIGGER: &str = "caml_memprof_young_trigger";
    /// 4.x: `void f(void)`, draws the distance to that word anew.
    pub const RENEW: &str = "caml_memprof_renew_minor_sample";
    /// 5.3 and later: `void f(caml_domain_state *)`, draws the distance to the next sample in the minor heap anew.
    pub const SET_TRIGGER: &str = "caml_memprof_set_trigger";
    /// 5.x: `void f(caml_domain_state *)`, computes the limit of the minor heap anew.
    pub const RESET_YOUNG_LIMIT: &str = "caml_reset_young_limit";
    /// 4.12 to 4.14: variable, `void (*)(void (*)(context *, void *), void *)`, which calls the first for each thread.
    pub const EACH_CONTEXT: &str = "caml_memprof_th_ctx_iter_hook";
    /// 4.12 to 4.14: the main thread's context; its first word is the same flag.
    pub const MAIN_CONTEXT: &str = "caml_memprof_main_ctx";
}

/// Slices of the major collection (`runtime/major_gc.c`).
pub mod major_gc {
    /// All: variable, `void (*)(void)`, 5.x `_Atomic`; called as a slice begins.
    pub const SLICE_BEGIN_HOOK: &str = "caml_major_slice_begin_hook";
    /// All: the same, called as it ends.
    pub const SLICE_END_HOOK: &str = "caml_major_slice_end_hook";
}

/// Minor collections of 5.3 (`runtime/minor_gc.c`).
pub mod minor_gc {
    /// `void f(caml_domain_state *, int participating_count, caml_domain_state **participating)`.
    pub const PROMOTE: &str = "caml_empty_minor_heap_promote";
    /// All: variable, `void (*)(void)`; 5.x: `_Atomic`, called by each domain as it begins, while all are stopped.
    pub const BEGIN_HOOK: &str = "caml_minor_gc_begin_hook";
    /// All: the same, called when the domain's minor heap is empty and ready to be used again.
    pub const END_HOOK: &str = "caml_minor_gc_end_hook";
    /// 5.x: `void f(caml_domain_state *)`, makes the next sample known to allocations (`runtime/domain.c`).
    pub const RESET_LIMIT: &str = "caml_reset_young_limit";
    /// 5.x: `void f(void)`, collects the minor heaps of all domains.
    pub const EMPTY_ALL: &str = "caml_empty_minor_heaps_once";
    /// `void f(caml_domain_state *)`, in `runtime/memprof.c`.
    pub const AFTER_MINOR: &str = "caml_memprof_after_minor_gc";
    /// `void f(caml_domain_state *)`, in `runtime/finalise.c`.
    pub const UPDATE_LAST: &str = "caml_final_update_last_minor";
    /// The same. The domains of 5.0 call it when all have emptied their minor heaps, and [`UPDATE_LAST`] before.
    pub const EMPTY_YOUNG: &str = "caml_final_empty_young";
}

/// Allocation, and the major heap.
pub mod memory {
    /// 5.x: `void f(caml_domain_state *, intnat wosize, int flags, int nallocs, unsigned char *encoded_lens)`
    /// (`runtime/minor_gc.c`).
    pub const ALLOCATE_SMALL: &str = "caml_alloc_small_dispatch";
    /// 5.x: `value f(mlsize_t wosize, tag_t)`, the last with `reserved_t` as well (`runtime/memory.c`).
    pub const ALLOCATE_LARGE: [&str; 3] =
        ["caml_alloc_shr", "caml_alloc_shr_noexc", "caml_alloc_shr_reserved"];
    /// All: `value f(const struct custom_operations *, uintnat size, mlsize_t mem)` (`runtime/custom.c`).
    pub const ALLOCATE_CUSTOM: &str = "caml_alloc_custom_mem";
    /// All: `value f(const struct custom_operations *, uintnat size, mlsize_t used, mlsize_t max)`, for blocks whose memory
    /// the sampler is not told of.
    pub const ALLOCATE_CUSTOM_COUNTED: &str = "caml_alloc_custom";
    /// 5.2 and later: `void f(caml_domain_state *, int, caml_domain_state **)` (`runtime/shared_heap.c`).
    pub const COMPACT: &str = "caml_compact_heap";
    /// 5.x: data, `struct global_heap_state { status MARKED, UNMARKED, GARBAGE; }`.
    pub const COLOURS: &str = "caml_global_heap_state";
}

/// What the runtime calls `malloc` for.
pub mod malloc {
    /// Functions that get memory for OCaml's heap by `malloc`: chunks and minor heaps of 4.x (`runtime/memory.c`,
    /// `runtime/minor_gc.c`), large blocks of 5.x (`runtime/shared_heap.c`); and for tables of references from the
    /// major heap to the minor one, and of custom blocks there.
    pub const OF_HEAP: [&str; 18] = [
        "caml_alloc_for_heap",
        "caml_set_minor_heap_size",
        "caml_set_minor_heap_wsz",
        "caml_shared_try_alloc",
        "caml_alloc_shr",
        "caml_alloc_shr_noexc",
        "caml_alloc_table",
        "caml_realloc_ref_table",
        "caml_realloc_ephe_ref_table",
        "caml_realloc_custom_table",
        "caml_modify",
        "caml_initialize",
        "caml_ephe_set_key",
        "caml_ephe_set_key_option",
        "caml_ephe_set_data",
        "caml_alloc_custom",
        "caml_alloc_custom_mem",
        "caml_add_to_heap",
    ];
    /// Of these, functions that end in a jump to the local one that allocates: it alone is on the stack
    /// (`runtime/minor_gc.c`).
    pub const OF_HEAP_BY_JUMP: [&str; 3] =
        ["caml_realloc_ref_table", "caml_realloc_ephe_ref_table", "caml_realloc_custom_table"];
    /// Functions of the sampler that get memory by `malloc` (`runtime/memprof.c`).
    pub const OF_SAMPLER: [&str; 8] = [
        "caml_memprof_start",
        "caml_memprof_track_alloc_shr",
        "caml_memprof_track_custom",
        "caml_memprof_track_interned",
        "caml_memprof_track_young",
        "caml_memprof_sample_young",
        "caml_memprof_sample_block",
        "caml_memprof_sample_unbatched",
    ];
    /// Functions that make the frame table anew, when code is loaded (`runtime/backtrace_nat.c`,
    /// `runtime/frame_descriptors.c`).
    pub const OF_FRAME_TABLE: [&str; 6] = [
        "caml_init_frame_descriptors",
        "caml_register_frametable",
        "caml_register_frametables",
        "caml_unregister_frametable",
        "caml_unregister_frametables",
        "caml_copy_and_register_frametable",
    ];
    /// Functions through which OCaml calls C, which are on the stack in 5.x (`runtime/amd64.S`, `runtime/arm64.S`).
    pub const CALLS_OF_C: [&str; 2] = ["caml_c_call", "caml_c_call_stack_args"];
    /// Functions that allocate for all who call them (`runtime/memory.c`, `runtime/custom.c`, `runtime/bigarray.c`).
    pub const FOR_OTHERS: [&str; 20] = [
        "caml_stat_alloc",
        "caml_stat_alloc_noexc",
        "caml_stat_alloc_aligned",
        "caml_stat_alloc_aligned_noexc",
        "caml_stat_calloc_noexc",
        "caml_stat_resize",
        "caml_stat_resize_noexc",
        "caml_stat_strdup",
        "caml_stat_strdup_noexc",
        "caml_stat_memdup",
        "caml_stat_strconcat",
        "caml_alloc_custom_mem",
        "caml_ba_alloc",
        "caml_ba_alloc_dims",
        "caml_ba_create",
        "caml_open_descriptor_in",
        "caml_ml_open_descriptor_in",
        "caml_ml_open_descriptor_out",
        "caml_ml_open_descriptor_in_with_flags",
        "caml_ml_open_descriptor_out_with_flags",
    ];
    /// Functions through which a process or a thread gets to its first OCaml function (`runtime/main.c`,
    /// `runtime/startup_nat.c`, `runtime/amd64.S`, `runtime/callback.c`, `runtime/domain.c`, systhreads).
    pub const WAY_IN: [&str; 15] = [
        "_start",
        "main",
        "caml_main",
        "caml_startup",
        "caml_startup_exn",
        "caml_startup_common",
        "init_gc",
        "caml_start_program",
        super::callstack::PROGRAM,
        "caml_callback_asm",
        "caml_callback_exn",
        "caml_callback_res",
        "caml_callback",
        "caml_thread_start",
        "domain_thread_func",
    ];
}

/// The state of the runtime.
pub mod state {
    /// 4.x: data, a pointer.
    pub const SINGLE: &str = "Caml_state";
    /// 5.x: thread-local, a pointer. `dlsym` gives the calling thread's instance.
    pub const MULTICORE: &str = "caml_state";
    /// 5.x: bounds of the memory that holds all minor heaps (data, pointers).
    pub const MINOR_HEAPS: [&str; 2] = ["caml_minor_heaps_start", "caml_minor_heaps_end"];
}

/// Call stacks.
pub mod callstack {
    /// All, generated code: initialises the compilation units one after the other (`asmcomp/cmm_helpers.ml`).
    pub const PROGRAM: &str = "caml_program";
    /// 4.x: `intnat f(value **slots, intnat *capacity, intnat max_frames, int alloc_index)`.
    pub const COLLECT_SINGLE: &str = "caml_collect_current_callstack";
    /// 5.2 and later: `size_t f(size_t max_frames, backtrace_slot **slots, size_t *capacity, ptrdiff_t alloc_index)`.
    pub const COLLECT_MULTICORE: &str = "caml_get_callstack";
    /// 4.x: data, `frame_descr **`, an open-addressed hash table.
    pub const DESCRIPTORS: &str = "caml_frame_descriptors";
    /// 4.x: data, `uintnat`, size of that table less one.
    pub const DESCRIPTORS_MASK: &str = "caml_frame_descriptors_mask";
    /// 5.3 and later: `caml_frame_descrs *f(void)`. **Before, it returns the structure by value.**
    pub const GET_DESCRIPTORS: &str = "caml_get_frame_descrs";
    /// 5.x: `frame_descr *f(caml_frame_descrs *table, uintnat return_address)`, table by value before 5.3.
    pub const FIND_DESCRIPTOR: &str = "caml_find_frame_descr";
    /// All: data, zero-terminated array of the units' frame tables.
    pub const FRAME_TABLES: &str = "caml_frametable";
}

/// Requests and callbacks.
pub mod control {
    /// All: assembly, `rax` (`x8`, before 4.12 `x15`) = C function to call with OCaml's registers saved.
    pub const C_CALL: &str = "caml_c_call";
    /// All: `void f(int signal)`.
    pub const RECORD_SIGNAL: &str = "caml_record_signal";
    /// All: `value f(value signal, value action)`.
    pub const INSTALL_SIGNAL_HANDLER: &str = "caml_install_signal_handler";
    /// All: `void *f(size_t)`, null when there is no memory.
    pub const STAT_ALLOC: &str = "caml_stat_alloc_noexc";
    /// All: `void f(value *)`; a root; updated when its value moves.
    pub const REGISTER_ROOT: &str = "caml_register_generational_global_root";
    /// All: `void f(value *)`.
    pub const REMOVE_ROOT: &str = "caml_remove_generational_global_root";
    /// All: `void f(const char *message)`, raises `Failure`.
    pub const FAILWITH: &str = "caml_failwith";
    /// All: `void f(void)`, raises `Out_of_memory`.
    pub const RAISE_OUT_OF_MEMORY: &str = "caml_raise_out_of_memory";
    /// All: `void f(value exception)`, raises an exception without arguments.
    pub const RAISE_CONSTANT: &str = "caml_raise_constant";
    /// All: data, the exception `Out_of_memory`.
    pub const OUT_OF_MEMORY: &str = "caml_exn_Out_of_memory";
    /// All: `void f(void *)`.
    pub const STAT_FREE: &str = "caml_stat_free";
}

/// What `Sys.runtime_parameters` prints; see [`crate::parameters`].
pub mod parameters {
    /// 4.x and 5.x, `uintnat`.
    pub const PERCENT_FREE: &str = "caml_percent_free";
    /// 4.x and 5.x, `uintnat`.
    pub const VERB_GC: &str = "caml_verb_gc";
    /// 4.x and 5.x, `uintnat`.
    pub const RUNTIME_WARNINGS: &str = "caml_runtime_warnings";
    /// 4.x, `uintnat`.
    pub const ALLOCATION_POLICY: &str = "caml_allocation_policy";
    /// 4.x, `uintnat`.
    pub const USE_HUGE_PAGES: &str = "caml_use_huge_pages";
    /// 4.x, `uintnat`.
    pub const MAJOR_HEAP_INCREMENT: &str = "caml_major_heap_increment";
    /// 4.x, `uintnat`.
    pub const PERCENT_MAX: &str = "caml_percent_max";
    /// 4.x, `int`.
    pub const PARSER_TRACE: &str = "caml_parser_trace";
    /// 4.x, `uintnat`.
    pub const TRACE_LEVEL: &str = "caml_trace_level";
    /// 4.x, `int`.
    pub const MAJOR_WINDOW: &str = "caml_major_window";
    /// 5.x, pointer to a read-only structure (`runtime/caml/startup_aux.h`).
    pub const PARAMS: &str = "caml_params";
    /// 5.x, `uintnat`.
    pub const MAX_STACK_WSIZE: &str = "caml_max_stack_wsize";
    /// 5.x, `uintnat`.
    pub const CUSTOM_MAJOR_RATIO: &str = "caml_custom_major_ratio";
    /// 5.x, `uintnat`.
    pub const CUSTOM_MINOR_RATIO: &str = "caml_custom_minor_ratio";
    /// 5.x, `uintnat`.
    pub const CUSTOM_MINOR_MAX_BYTES: &str = "caml_custom_minor_max_bsz";
}

/// Bytecode (`runtime/startup_byt.c`, `runtime/interp.c`, `runtime/fix_code.c`).
pub mod bytecode {
    /// All: data, pointer to the first instruction.
    pub const CODE: &str = "caml_start_code";
    /// All: data, `asize_t`.
    pub const CODE_BYTES: &str = "caml_code_size";
    /// All: data, a value: a block with all global variables; a root.
    pub const GLOBALS: &str = "caml_global_data";
    /// 4.x: data, pointer to the program's name: the file with the bytecode, unless the runtime is in it. 5.x has it in the first
    /// field of [`super::parameters::PARAMS`].
    pub const FILE: &str = "caml_exe_name";
    /// 4.x, with `-output-complete-exe`: data, pointer to a marshalled table of sections, and its bytes.
    pub const SECTIONS: [&str; 2] = ["caml_section_table", "caml_section_table_size"];
}

/// Variables that are private to the runtime: each with the exported functions whose code refers to it, by which it is
/// found in programs without their symbols.
pub mod private {
    /// A variable: its symbol, and functions that refer to it.
    pub type Variable = (&'static str, &'static [&'static str]);

    /// 4.x: `struct finalisable`, for `Gc.finalise` (`runtime/finalise.c`).
    pub const FINALISERS_FIRST: Variable = ("finalisable_first", &["caml_final_register"]);
    /// 4.x: the same for `Gc.finalise_last`.
    pub const FINALISERS_LAST: Variable =
        ("finalisable_last", &["caml_final_register_called_without_value"]);
    /// 4.x: pointer to the first `struct to_do`.
    pub const FINALISERS_DUE: Variable = ("to_do_hd", &["caml_final_do_roots"]);
    /// All: array of lists of `struct named_value` (`runtime/callback.c`).
    pub const NAMED_VALUES: Variable =
        ("named_value_table", &["caml_named_value", "caml_iterate_named_values"]);
    /// All: list of the tables of units that were loaded (`runtime/roots_nat.c`, `runtime/globroots.c`).
    pub const LOADED_GLOBALS: Variable =
        ("caml_dyn_globals", &["caml_register_dyn_global", "caml_register_dyn_globals"]);
    /// 4.x, systhreads: pointer to the running thread (`otherlibs/systhreads/st_stubs.c`).
    pub const RUNNING_THREAD: Variable = ("curr_thread", &["caml_thread_self"]);
    /// 4.x, systhreads: pointer to any of the threads.
    pub const ALL_THREADS: Variable =
        ("all_threads", &["caml_c_thread_register", "caml_thread_initialize"]);
    /// 5.x, systhreads: an array with an entry for each domain, from 5.3 on a pointer to it.
    pub const THREAD_TABLE: Variable = (
        "thread_table",
        &["caml_thread_yield", "caml_thread_initialize", "caml_thread_cleanup", "caml_thread_new"],
    );
    /// 5.1 and later: `caml_frame_descrs` (`runtime/frame_descriptors.c`).
    pub const FRAME_TABLE: Variable = ("current_frame_descrs", &["caml_get_frame_descrs"]);
    /// 5.x: the `dom_internal` of the domain for which all pause, or 0 (`runtime/domain.c`).
    pub const LEADER: Variable = ("stw_leader", &["caml_try_run_on_all_domains_with_spin_work"]);
    /// 4.12 to 4.14: `struct entry_array` (`runtime/memprof.c`).
    pub const TRACKED: Variable = ("entries_global", &["caml_memprof_do_roots"]);
}

/// The heap and what retains it; see [`crate::heap`].
pub mod heap {
    /// All: data, `struct skiplist`: variables that C code registered (`runtime/globroots.c`).
    pub const GLOBAL_ROOTS: [&str; 3] =
        ["caml_global_roots", "caml_global_roots_young", "caml_global_roots_old"];
    /// All: data, array of `{begin, end}` that ends with zero: code of the units.
    pub const CODE_SEGMENTS: &str = "caml_code_segments";
    /// All: code, both ends of what OCaml code calls C and the collector by (`runtime/amd64.S`).
    pub const SYSTEM_CODE: [&str; 2] = ["caml_system__code_begin", "caml_system__code_end"];
    /// 4.x: functions of which one is on the stack of a thread while blocks are moved (`runtime/compact.c`,
    /// `runtime/minor_gc.c`).
    pub const MOVE_BLOCKS: [&str; 3] =
        ["caml_compact_heap", "caml_compact_heap_maybe", "caml_empty_minor_heap"];
    /// Systhreads' own hook for roots.
    pub const THREADS_HOOK: &str = "caml_thread_scan_roots";
    /// 4.x: data, pointer to the first chunk.
    pub const CHUNKS: &str = "caml_heap_start";
    /// 4.x: data, `int`, 0 marking, 1 cleaning, 2 sweeping, 3 idle.
    pub const PHASE: &str = "caml_gc_phase";
    /// 4.x: data, `asize_t`, words on the free list.
    pub const FREE_WORDS: &str = "caml_fl_cur_wsz";
    /// All: data, array of `{begin, end}` that ends with zero.
    pub const DATA_SEGMENTS: &str = "caml_data_segments";
    /// All: data, pointer to the zero-sized blocks.
    pub const ATOMS: &str = "caml_atom_table";
    /// All: data, zero-terminated array of zero-terminated arrays of blocks.
    pub const GLOBALS: &str = "caml_globals";
    /// All: `void f(value *, value)`, stores a value for the first time.
    pub const INITIALIZE: &str = "caml_initialize";
    /// All: data, blocks: behind this prefix is the name of an exception that the runtime raises itself.
    pub const PREDEFINED_EXCEPTION: &[u8] = b"caml_exn_";
    /// All: data, a value: marks empty fields of ephemerons.
    pub const EPHE_NONE: &str = "caml_ephe_none";
    /// 4.x: data, a value: the first ephemeron, or 0.
    pub const EPHEMERONS: &str = "caml_ephe_list_head";
    /// 4.x: `void f(void (*)(value, value *), int with_globals)`. 5.x:
    /// `void f(void (*)(void *, value, volatile value *), int flags, void *, caml_domain_state *, int with_finalised)`.
    pub const DO_ROOTS: &str = "caml_do_roots";
    /// All: the roots that C code registered; 4.x `void f(action)`, 5.x `void f(action, void *)`, with the modules' fields.
    pub const SCAN_GLOBAL_ROOTS: &str = "caml_scan_global_roots";
    /// 4.x: `void f(action)`.
    pub const FINALISERS: &str = "caml_final_do_roots";
    /// All: `void f(value function, value)`, adds to what `Gc.finalise` keeps.
    pub const FINALISE: &str = "caml_final_register";
    /// All: the same for `Gc.finalise_last`.
    pub const FINALISE_LAST: &str = "caml_final_register_called_without_value";
    /// 4.x: `void f(action)`.
    pub const TRACKED_SINGLE: &str = "caml_memprof_do_roots";
    /// 5.3 and later: `void f(action, int flags, void *, caml_domain_state *, bool weak)`.
    pub const TRACKED_MULTICORE: &str = "caml_memprof_scan_roots";
    /// All: variable; 4.x `void (*)(action)`, 5.x `_Atomic`, `void (*)(action, int, void *, caml_domain_state *)`.
    pub const SCAN_ROOTS_HOOK: &str = "caml_scan_roots_hook";
    /// All: `void f(void (*)(const value *, char *))`.
    pub const NAMED_VALUES: &str = "caml_iterate_named_values";
    /// 4.x: variable, `void (*)(void)`, called between marking and sweeping.
    pub const MAJOR_HOOK: &str = "caml_major_gc_hook";
    /// 4.x: variable, `void (*)(void)`, called when the minor heap has been emptied.
    pub const MINOR_END_HOOK: &str = "caml_minor_gc_end_hook";
    /// 4.x: `void f(void)`: asks for a minor collection as soon as code allocates; any thread may call it.
    pub const REQUEST_MINOR: &str = "caml_request_minor_gc";
    /// All: variables, `void (*)(void)`.
    pub const BLOCKING_HOOKS: [&str; 2] =
        ["caml_enter_blocking_section_hook", "caml_leave_blocking_section_hook"];
    /// All: `void f(void)`.
    pub const BLOCKING_SECTION: [&str; 2] =
        ["caml_enter_blocking_section", "caml_leave_blocking_section"];
    /// With systhreads: `int f(void)`.
    pub const REGISTER_THREAD: [&str; 2] = ["caml_c_thread_register", "caml_c_thread_unregister"];
    /// 5.x: `int f(void (*)(caml_domain_state *, void *, int, caml_domain_state **), void *, void (*)(caml_domain_state *))`.
    pub const STOP_ALL: &str = "caml_try_run_on_all_domains";
    /// 5.x: variable, `void (*)(void)`, called at the end of pending actions.
    pub const INTERRUPT_HOOK: &str = "caml_domain_external_interrupt_hook";
    /// 5.x: `void f(int domain)`: makes the calling thread one of this domain's.
    pub const BECOME_DOMAIN: &str = "caml_init_domain_self";
    /// 5.x: function that reads what is counted of the heaps of domains that have ended.
    pub const ORPHANS: &str = "caml_accum_orphan_heap_stats";
    /// 5.x: functions that hand a domain's ephemerons, and its finalisers, over to whoever adopts them.
    pub const ORPHANING: [&str; 2] = ["caml_orphan_ephemerons", "caml_orphan_finalisers"];
    /// 5.x: function, the action with which roots are marked.
    pub const DARKEN: &str = "caml_darken";
    /// 4.x: data, `uintnat`: words allocated in the major heap since the last slice of its collection.
    pub const ALLOCATED_WORDS: &str = "caml_allocated_words";
    /// 5.x: data, `_Atomic uintnat`.
    pub const MINOR_COLLECTIONS: &str = "caml_minor_collections_count";
    /// 5.x: data, `uintnat`.
    pub const MAJOR_CYCLES: &str = "caml_major_cycles_completed";
    /// 5.2 and later: data, `atomic_uintnat`.
    pub const COMPACTIONS: &str = "caml_compactions_count";
}
