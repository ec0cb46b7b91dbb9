# Redis: keys that are never deleted, or the same 20,000 keys.
# native
# needs redis-server redis-cli
# run leak: something grows
# run sound: no suspect
$RECORD redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no &
server=$!
until redis-cli -s socket ping; do sleep 0.1; done
round=0
while [ $round -lt 60 ]; do
    first=$((round * 10000))
    [ "$1" = leak ] || first=$((first % 20000))
    seq $first $((first + 9999)) | awk '{ print "set key:" $1 " " $1 "-" rand() "-a-value-of-some-length" }' |
        redis-cli -s socket --pipe
    round=$((round + 1))
done
redis-cli -s socket shutdown nosave
wait $server
