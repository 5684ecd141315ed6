{{/* pgbouncer.ini for one server. Arguments: the root context and the server. */}}
{{- define "assay.pgbouncerIni" -}}
{{- $values := (index . 0).Values.pgbouncer -}}
{{- $server := index . 1 -}}
[databases]
{{ $values.database }} = host={{ $server.host }} port={{ $server.port }} dbname={{ $values.database }}
[pgbouncer]
listen_addr = *
listen_port = 6432
unix_socket_dir =
auth_type = scram-sha-256
auth_file = /etc/pgbouncer-users/userlist.txt
pool_mode = transaction
default_pool_size = {{ $values.poolSize }}
max_client_conn = {{ $values.maxClientConnections }}
; Assay uses prepared statements. Zero turns them off.
max_prepared_statements = 200
server_tls_sslmode = {{ $values.serverTlsSslmode }}
{{- if (index . 0).Values.database.caConfigMap }}
server_tls_ca_file = /etc/assay-ca/ca.pem
{{- end }}
; After a failover, clients of the lost server have to move on quickly.
server_connect_timeout = 5
server_login_retry = 2
query_wait_timeout = 10
; The system would wait a quarter of an hour for a machine that is gone.
tcp_keepidle = 5
tcp_keepintvl = 3
tcp_keepcnt = 3
tcp_user_timeout = 10000
log_connections = 0
log_disconnections = 0
{{- end -}}
