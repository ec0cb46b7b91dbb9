# menhir makes a parser of a large grammar: it keeps automata until it ends.
# needs menhir
# run sound: no suspect
awk 'BEGIN {
    print "%token EOF A B C"; for (i = 0; i < 400; i++) print "%token T" i
    print "%start <unit> main"; print "%%"; print "main: list(item) EOF { () }"; print "item:"
    for (i = 0; i < 400; i++) print "| T" i " rule" i " { () }"
    for (i = 0; i < 400; i++) print "rule" i ": A rule" (i + 1) % 400 " { () } | B T" i " { () } | C { () }"
}' > grammar.mly
$RECORD menhir --only-tokens --explain --canonical grammar.mly || true
