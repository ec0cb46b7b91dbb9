# semgrep parses a file and matches it against rules.
# run scan: no suspect
cat > rules.yaml << END
rules:
- id: same
  pattern: \$X == \$X
  message: same
  languages: [python]
  severity: ERROR
- id: call
  patterns:
  - pattern: f(\$X, ...)
  - pattern-not: f(1, ...)
  message: call
  languages: [python]
  severity: WARNING
END
awk 'BEGIN {
    for (i = 0; i < 4000; i++) {
        print "def g" i "(a, b=" i "):"
        print "    if a == a:"
        print "        return f(b, a + " i ", [x * 2 for x in range(a)])"
        print "    return {\"k" i "\": a, \"l\": (b, " i ", \"text\")}"
    }
}' > big.py
$RECORD "$WILD/semgrep==1.185.0/semgrep-core" -rules rules.yaml -lang python -j 1 big.py
