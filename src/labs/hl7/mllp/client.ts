import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { setupProblem } from '../../../platform/problem.ts'
import { limits } from '../codec/rules-message.ts'
import { deframer, frame } from './rules-framing.ts'

export type MllpAddress = {
  host: string
  port: number
  /** TLS with the certificate of the lab's authority, and with our own certificate if the lab wants one. Undefined for plain TCP. */
  tls?: { ca?: Buffer | undefined; cert?: Buffer | undefined; key?: Buffer | undefined } | undefined
}

type Sending = {
  timeoutMs: number
  /** Whether a message of the lab is the answer. */
  isAnswer(message: Buffer): boolean
}

type Pending = { isAnswer(message: Buffer): boolean; resolve(answer: Buffer): void; reject(error: unknown): void }

export type MllpConnection = ReturnType<typeof connectMllp>

/**
 * Connects to a lab. Messages are sent one after another, each after the answer to the one before. `onOther` gets what the lab
 * sends besides. A connection that fails stays closed.
 */
export function connectMllp(address: MllpAddress, onOther: (message: Buffer) => void = () => {}) {
  const { push } = deframer(limits.bytes)
  let pending: Pending | undefined
  let failure: unknown
  let others = 0
  const socket = connect(address).setKeepAlive(true, 60_000).setNoDelay(true)

  function fail(reason: string | Error) {
    failure ??= typeof reason === 'string' ? setupProblem(others ? `${reason}, after ${others} other messages` : reason) : reason
    socket.destroy()
    pending?.reject(failure)
    pending = undefined
  }

  function receive(message: Buffer) {
    if (pending?.isAnswer(message)) {
      pending.resolve(message)
      pending = undefined
    } else {
      others++
      onOther(message)
    }
  }

  socket.on('data', (chunk: Buffer) => {
    try {
      for (const message of push(chunk)) receive(message)
    } catch (error) {
      fail(error as Error)
    }
  })
  socket.on('error', (error: NodeJS.ErrnoException) => fail(`The connection to the lab failed (${error.code ?? error.message})`))
  socket.on('close', () => fail('The lab closed the connection without an answer'))

  return {
    isOpen: () => failure === undefined,
    /** Lets the process end while the connection is idle. */
    unref: () => socket.unref(),
    close: () => fail('The connection was closed'),
    /** Rejects if the connection fails, or if the answer does not come in time. */
    async send(message: Uint8Array, { timeoutMs, isAnswer }: Sending): Promise<Buffer> {
      if (failure) throw failure
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
      pending = { isAnswer, resolve, reject }
      const timer = setTimeout(() => fail('The lab did not answer in time'), timeoutMs)
      socket.write(frame(message))
      return promise.finally(() => clearTimeout(timer))
    },
  }
}

function connect({ host, port, tls }: MllpAddress): Socket {
  return tls ? connectTls({ host, port, ...definedOf(tls) }) : connectTcp({ host, port })
}

/** Node takes an undefined authority for an empty list. */
const definedOf = (tls: NonNullable<MllpAddress['tls']>) =>
  Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
