# Bash: a log in an array of the shell, or its last 1,000 lines.
# native
# needs bash
# run leak: something grows
# run sound: no suspect
$RECORD bash -c '
for ((i = 0; i < 300000; i++)); do
    line="line $i of a log that nobody reads"
    if [ "$0" = leak ]; then log+=("$line"); else log[i % 1000]=$line; fi
done' "$1"
