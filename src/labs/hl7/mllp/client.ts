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

export type Exchange = {
  timeoutMs: number
  /** Whether an answer is the last one that the message needs. */
  isLast(answer: Buffer): boolean
}

/** Sends one message and returns the answers. The promise rejects if the connection fails or the last answer does not come in time. */
export function exchange(address: MllpAddress, message: Uint8Array, { timeoutMs, isLast }: Exchange): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>()
  const answers: Buffer[] = []
  const push = deframer(limits.bytes)
  const socket = connect(address, () => socket.write(frame(message)))
  const timer = setTimeout(() => fail('The lab did not answer in time'), timeoutMs)
  const fail = (reason: string) => end(() => reject(setupProblem(answers.length ? `${reason}, after ${answers.length} answers` : reason)))
  const end = (settle: () => void) => {
    clearTimeout(timer)
    socket.destroy()
    settle()
  }
  socket.on('data', (chunk: Buffer) => {
    try {
      answers.push(...push(chunk))
    } catch (error) {
      return end(() => reject(error))
    }
    if (answers.some(isLast)) end(() => resolve(answers))
  })
  socket.on('error', (error: NodeJS.ErrnoException) => fail(`The connection to the lab failed (${error.code ?? error.message})`))
  socket.on('close', () => fail('The lab closed the connection without an answer'))
  return promise
}

function connect({ host, port, tls }: MllpAddress, onConnect: () => void): Socket {
  return tls ? connectTls({ host, port, ...definedOf(tls) }, onConnect) : connectTcp({ host, port }, onConnect)
}

/** Node takes an undefined authority for an empty list. */
const definedOf = (tls: NonNullable<MllpAddress['tls']>) =>
  Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
