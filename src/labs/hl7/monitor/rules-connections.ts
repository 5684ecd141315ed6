import type { OperatedLabConnection } from '../../../contract/labs/lab-messages.ts'

/** What to do about a failed attempt, by the text of its error. The first that fits counts. Over SFTP, the fields are those of `sftp`. */
const remedies: [RegExp, string][] = [
  [/host key/, 'Ask the lab whether the key of its server has changed. If so, add the new fingerprint to sftp.host_keys.'],
  [/client-authentication|private_key/, 'Check sftp.user with sftp.password or sftp.private_key, and ask the lab whether it knows them.'],
  [/refused to/, 'Check sftp.orders and sftp.results, and ask the lab whether the user may read and write there.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The name of the host is unknown. Check send.host in LAB_CONNECTIONS and the DNS of the workers.'],
  [
    /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/,
    "Check send.host and send.port in LAB_CONNECTIONS, the network or tunnel to the lab, and the lab's firewall.",
  ],
  [/CERT|TLS|SSL|SIGNATURE|EPROTO/, 'Check the certificates in send.tls, and ask the lab which ones it uses.'],
  [/in time/, 'The lab is slow or does not answer. Ask it whether it gets the messages, or raise send.timeout_seconds.'],
  [/closed the connection|ECONNRESET|EPIPE/, 'Ask the lab whether it accepts connections from your address and with your certificate.'],
]

const OTHER_REMEDY = 'Ask the lab for the reason. Assay keeps trying, at least once an hour.'
const NOT_CONFIGURED = 'Add the lab to LAB_CONNECTIONS and restart the service, or cancel the orders.'

export type Transport = 'mllp' | 'sftp'

export function remedyFor(error: string, transport: Transport) {
  const remedy = remedies.find(([pattern]) => pattern.test(error))?.[1] ?? OTHER_REMEDY
  return transport === 'sftp' ? remedy.replaceAll('send.', 'sftp.') : remedy
}

type Failure = { lab_id: number; failed_at: string | null; error: string | null }

type State = Pick<OperatedLabConnection, 'state' | 'failing_since' | 'error' | 'remedy'>

/** The state of a connection. If a message cannot be sent or files cannot be picked up, those after it wait, so one failure is enough. */
export function stateOf(transport: Transport | null, failures: Failure[], isUsed: boolean): State {
  const none = { failing_since: null, error: null, remedy: null }
  if (!transport) return { ...none, state: 'not_configured', remedy: NOT_CONFIGURED }
  const [first] = failures.toSorted((a, b) => (a.failed_at ?? '').localeCompare(b.failed_at ?? ''))
  if (!first?.error) return { ...none, state: isUsed ? 'connected' : 'unused' }
  return { state: 'failing', failing_since: first.failed_at, error: first.error, remedy: remedyFor(first.error, transport) }
}
