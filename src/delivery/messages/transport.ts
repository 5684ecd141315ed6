import { createTransport } from 'nodemailer'
import type { Config } from '../../platform/config.ts'
import { isLoopbackUrl } from '../../platform/settings/values.ts'
import { type Outcome, outcomeOf, TIMEOUT_MS } from './rules.ts'

/** One email in plain text. */
type Email = {
  id: string
  from_name: string
  to: string
  reply_to: string | null
  subject: string
  text: string
  unsubscribe_url: string | null
}

export type Mailer = { send(email: Email): Promise<Outcome>; close(): void }

type Settings = Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>

const MAX_CONNECTIONS = 4

/** Connections to the mail server for one batch of messages. */
export function openMailer({ SMTP_URL, MAIL_FROM }: Settings): Mailer {
  const url = SMTP_URL as string
  const address = MAIL_FROM as string
  const { hostname, port, protocol, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    // Credentials and addresses never leave the machine unencrypted.
    requireTLS: !secure && !isLoopback(hostname),
    ...(username ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } } : {}),
    ...{ connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS, dnsTimeout: TIMEOUT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return {
    send: ({ id, from_name, to, reply_to, subject, text, unsubscribe_url }) =>
      transport
        .sendMail({
          // Every attempt has this ID, so that a mail server recognizes a duplicate.
          messageId: `<${id}@${domain}>`,
          from: { name: from_name, address },
          to: { name: '', address: to },
          ...(reply_to ? { replyTo: reply_to } : {}),
          ...{ subject, text },
          headers: {
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribe_url ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
          },
          ...(unsubscribe_url ? { list: { unsubscribe: unsubscribe_url } } : {}),
        })
        .then((): Outcome => ({ sent: true }), outcomeOf),
    close: () => transport.close(),
  }
}

/** The URL parser of other schemes keeps brackets and does not change letters, which is all that `isLoopbackUrl` compares. */
const isLoopback = (hostname: string) => isLoopbackUrl(`http://${hostname}`)
