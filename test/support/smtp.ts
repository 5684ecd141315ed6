import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { atEnd } from './at-end.ts'

export type ReceivedMail = { to: string; headers: Record<string, string>; text: string }

/** The response to RCPT TO, such as `450 4.2.1 Mailbox busy`. Undefined accepts the recipient. */
type Verdict = (address: string) => string | undefined

/** A mail server on loopback that keeps what it accepts. */
export async function startMailServer() {
  const mails: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  let verdict: Verdict = () => undefined
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    converse(socket, (address) => verdict(address), mails)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  atEnd(close)
  const { port } = server.address() as { port: number }
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    close,
    /** Decides about the recipients from now on. */
    judge: (next: Verdict) => {
      verdict = next
    },
    /** Returns and forgets the mails so far. */
    take: () => mails.splice(0),
  }
}

function converse(socket: Socket, verdict: Verdict, mails: ReceivedMail[]) {
  const say = (line: string) => socket.write(`${line}\r\n`)
  let to = ''
  let data: string[] | undefined
  say('220 mail.example ESMTP')
  createInterface({ input: socket }).on('line', (line) => {
    if (data) {
      if (line !== '.') return void data.push(line.replace(/^\.\./, '.'))
      mails.push({ to, ...parseMail(data) })
      data = undefined
      return say('250 Accepted')
    }
    const command = line.slice(0, 4).toUpperCase()
    if (command === 'EHLO') return say('250 mail.example')
    if (command === 'RCPT') {
      to = /<(.*)>/.exec(line)?.[1] ?? ''
      return say(verdict(to) ?? '250 Ok')
    }
    if (command === 'DATA') {
      data = []
      return say('354 Go ahead')
    }
    say(command === 'QUIT' ? '221 Bye' : '250 Ok')
    if (command === 'QUIT') socket.end()
  })
}

function parseMail(lines: string[]) {
  const end = lines.indexOf('')
  const unfolded = lines
    .slice(0, end)
    .join('\n')
    .replace(/\n[ \t]+/g, ' ')
  const headers = Object.fromEntries(
    unfolded
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), decodeWords(line.slice(line.indexOf(':') + 1).trim())]),
  )
  const body = lines.slice(end + 1).join('\n')
  return { headers, text: decodeBody(body, headers['content-transfer-encoding']).replaceAll('\r', '') }
}

function decodeBody(body: string, encoding = '7bit') {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? decodeQuoted(body.replace(/=\n/g, '')) : body
}

const decodeQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

/** Headers with other than ASCII characters (RFC 2047). */
const decodeWords = (text: string) =>
  text.replace(/=\?UTF-8\?([BQ])\?(.*?)\?=\s*/gi, (_, kind: string, word: string) =>
    kind.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')),
  )
