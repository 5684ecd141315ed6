import type { Config } from '../../platform/config.ts'
import { HOUR, later, MINUTE, SECOND } from '../../platform/time.ts'

export const canSendMail = ({ SMTP_URL }: Pick<Config, 'SMTP_URL'>) => SMTP_URL !== undefined

/** The wait before attempt 2, 3, 4… After the list ends, the message has failed. */
const waits = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR]

/** How long a process may take to send a message. Another one then sends it again. */
export const LEASE_MS = 5 * MINUTE
export const TIMEOUT_MS = 30 * SECOND

export type Outcome = { sent: true } | { sent: false; error: string; isFinal: boolean }

export function afterAttempt(tries: number, outcome: Outcome, at: string) {
  if (outcome.sent) return { status: 'sent', send_at: null, sent_at: at, error: null }
  const wait = waits[tries - 1]
  if (outcome.isFinal || wait === undefined) return { status: 'failed', send_at: null, sent_at: null, error: outcome.error }
  return { status: 'queued', send_at: later(at, wait), sent_at: null, error: outcome.error }
}

type SmtpError = { code?: unknown; responseCode?: unknown }

/**
 * Only codes are kept: the text of a mail server can contain the address. A server that rejects a message with 5xx does not
 * accept it later either, except while it refuses our sign-in or has no encryption.
 */
export function outcomeOf({ code, responseCode }: SmtpError): Outcome {
  const isFinal = typeof responseCode === 'number' && responseCode >= 500 && code !== 'EAUTH' && code !== 'ETLS'
  const name = typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : 'FAILED'
  return { sent: false, error: typeof responseCode === 'number' ? `${name} ${responseCode}` : name, isFinal }
}

type Recipient = { expires_at: string | null; is_patient: boolean; email_enabled: boolean; opted_out: boolean; is_deleted: boolean }

/** Why a message must not be sent anymore. Settings count at the moment of sending. */
export function reasonToCancel({ expires_at, is_patient, email_enabled, opted_out, is_deleted }: Recipient, wall: string) {
  if (expires_at && expires_at <= wall) return 'expired'
  if (!is_patient) return undefined
  if (is_deleted) return 'user deleted'
  if (opted_out) return 'opted out'
  return email_enabled ? undefined : 'turned off'
}

/** The last line of a message to a patient. */
export const optOutLine = (language: string, url: string) =>
  language === 'es' ? `Para no recibir más mensajes: ${url}` : `To stop these messages: ${url}`
