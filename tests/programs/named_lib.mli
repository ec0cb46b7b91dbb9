val late : string
external untouched : 'a -> 'a = "%identity"
val made_value : 'a -> 'a
val early : string

module Sub : sig
  val shown : string
end

val again : string
