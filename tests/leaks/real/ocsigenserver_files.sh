# Debian's ocsigenserver serves files for half a minute.
# needs ocsigenserver.opt ocamlfind curl
# run sound: no suspect
mkdir -p files log data
i=0
while [ $i -lt 20 ]; do head -c 20000 /dev/urandom > files/$i.html; i=$((i + 1)); done
module=$(ocamlfind query ocsigenserver)/ext/staticmod/staticmod.cmxs
port=$((15000 + $$ % 15000))
cat > configuration.xml << END
<ocsigen><server><port>127.0.0.1:$port</port><logdir>$PWD/log</logdir><datadir>$PWD/data</datadir>
<charset>utf-8</charset><user></user><group></group>
<extension module="$module"/>
<host hostfilter="*"><static dir="$PWD/files"/></host></server></ocsigen>
END
$RECORD ocsigenserver.opt -s -c configuration.xml &
server=$!
until curl -s -o /dev/null http://127.0.0.1:$port/0.html; do sleep 0.1; done
i=0
while [ $i -lt 1500 ]; do
    curl -s -Z -H "Connection: close" -o "#1" "http://127.0.0.1:$port/[0-19].html" 2> curl.log
    i=$((i + 1))
done
kill $server
wait $server || true
