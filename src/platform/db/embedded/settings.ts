import type { Access } from './access.ts'

const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }

const sizes = { shared_buffers: '128MB', max_connections: '100', max_wal_size: '512MB' }

/** Error texts and statements can quote health data, so the server's log must not contain them. */
const logging = {
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
}

const clock = { timezone: 'UTC', log_timezone: 'UTC' }

/** The server's working folder is its cluster, so `.` is a socket path that is never too long. */
const address = ({ port }: Access) =>
  port
    ? { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' }
    : { listen_addresses: '', port: '5432', unix_socket_directories: '.' }

/** The settings are command-line arguments, so a new version of Assay applies its settings to an old cluster. */
export function serverArguments(access: Access, extra: Record<string, string> = {}) {
  const settings = { ...durable, ...sizes, ...logging, ...clock, password_encryption: 'scram-sha-256', ...extra, ...address(access) }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Only the role `assay` can connect; the superuser cannot. */
export const hostBasedAccess = ['local all assay scram-sha-256', 'host all assay 127.0.0.1/32 scram-sha-256', ''].join('\n')
