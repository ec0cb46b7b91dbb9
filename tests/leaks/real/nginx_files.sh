# nginx: one worker that serves files.
# native
# needs nginx curl
# run sound: no suspect
mkdir -p files logs
i=0
while [ $i -lt 20 ]; do head -c 20000 /dev/urandom > files/$i; i=$((i + 1)); done
port=$((15000 + $$ % 15000))
cat > nginx.conf << END
daemon off; master_process off; pid nginx.pid; error_log logs/error.log;
events {}
http { access_log logs/access.log; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f;
       uwsgi_temp_path u; scgi_temp_path s; gzip on; gzip_types *; gzip_proxied any; gzip_http_version 1.0;
       server { listen 127.0.0.1:$port; root $PWD/files; } }
END
$RECORD nginx -p "$PWD" -c "$PWD/nginx.conf" -e logs/error.log &
server=$!
until curl -s -o /dev/null http://127.0.0.1:$port/0; do sleep 0.1; done
i=0
while [ $i -lt 200 ]; do
    curl -s --compressed -o /dev/null "http://127.0.0.1:$port/[0-19]"
    i=$((i + 1))
done
kill -QUIT "$(cat nginx.pid)"
wait $server
