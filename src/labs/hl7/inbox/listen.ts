import { BlockList, isIPv4, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { App } from '../../../platform/app.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { type Link, linksOf } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { listenMllp, type MllpAnswer } from '../mllp/server.ts'
import { receiveMessage } from './receive.ts'

export type Listener = Awaited<ReturnType<typeof listenMllp>> & { lab: string }

/** Opens the port of each lab that sends to Assay. */
export async function listenToLabs(app: App) {
  await using opened = new AsyncDisposableStack()
  const listeners: Listener[] = []
  for (const link of linksOf(app).values()) {
    if (!link.receive) continue
    const listener = opened.use(await listen(app, link, link.receive))
    listeners.push({ ...listener, lab: link.slug })
  }
  const stack = opened.move()
  return { listeners, stop: () => stack.disposeAsync() }
}

async function listen(app: App, link: Link, { host, port, tls, from }: NonNullable<Link['receive']>) {
  const isKnown = senderCheck(from, tls?.subject)
  try {
    return await listenMllp({
      ...{ host, port, tls },
      isAllowed: (socket) => isKnown(socket) || refuse(app, link),
      handle: (message) => receiveMessage(app, link, message).catch((error) => reportFault(app, link, error)),
    })
  } catch (error) {
    throw setupProblem(`LAB_CONNECTIONS.${link.slug}: cannot listen on ${host}:${port} (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Without an answer, the lab sends the message again. The text of the error could contain a value of the message. */
function reportFault(app: App, { slug }: Link, error: unknown): MllpAnswer {
  countLabMessage(slug, 'in', 'failed')
  app.log.error({ lab: slug, error: (error as Error).name }, 'lab message not stored')
  return { answers: [], closes: true }
}

function refuse(app: App, { slug }: Link) {
  app.log.warn({ lab: slug }, 'connection of an unknown sender closed')
  return false
}

/** A sender has one of the addresses and, with a subject, a certificate with this common name, which is known after the handshake. */
function senderCheck(from: string[], subject: string | undefined) {
  const known = new BlockList()
  for (const entry of from) {
    const [address = '', prefix] = entry.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    known.addSubnet(address, prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix), family)
  }
  return (socket: Socket | TLSSocket) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    const isAddressKnown = known.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
    const isNamed = subject === undefined || !(socket instanceof TLSSocket) || socket.getPeerCertificate().subject?.CN === subject
    return isAddressKnown && isNamed
  }
}
