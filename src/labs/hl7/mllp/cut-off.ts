import { connect } from 'node:net'
import type { MllpAddress } from './client.ts'
import { frame } from './rules-framing.ts'

/** Sends half of a message and closes the connection, as a broken network does. */
export async function cutOff({ host, port }: MllpAddress, message: Uint8Array) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const bytes = frame(message)
  const socket = connect({ host, port }, () => socket.write(bytes.subarray(0, bytes.length / 2), () => socket.destroy()))
  socket.on('error', () => socket.destroy()).on('close', () => resolve())
  await promise
}
