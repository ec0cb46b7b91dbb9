# SQLite in memory: rows are added, or the same rows are changed again and again.
# native
# needs sqlite3
# run leak: something grows
# run sound: no suspect
{
    echo 'create table rows (id integer primary key, text);'
    round=0
    while [ $round -lt 150 ]; do
        if [ "$1" = leak ]; then
            echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
                  insert into rows (text) select hex(randomblob(50)) from n;"
        else
            echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
                  insert or replace into rows select i, hex(randomblob(50)) from n;"
        fi
        round=$((round + 1))
    done
} > rows.sql
$RECORD sqlite3 :memory: '.read rows.sql'
