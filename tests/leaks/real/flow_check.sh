# Flow checks 300 files: what it knows of each is in its own memory until it ends.
# run flow-bin@0.200.1: no suspect
# run flow-bin@0.250.0: no suspect
flow=$WILD/$1/flow
mkdir project
"$flow" init project
i=0
while [ $i -lt 300 ]; do
    awk -v m=$i 'BEGIN {
        print "/* @flow */"
        for (i = 0; i < 60; i++) {
            print "export function f" m "_" i "(a: number, b: ?string): number {"
            print "  if (b == null) { return a + " i "; }"
            print "  const o = {x: a, y: b, z: [1, 2, " i "]};"
            print "  return o.x + o.y.length + o.z.map(v => v * 2).length; }"
        }
    }' > project/m$i.js
    i=$((i + 1))
done
$RECORD "$flow" check --max-workers 1 project
