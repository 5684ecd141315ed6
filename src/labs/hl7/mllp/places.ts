import type { Socket } from 'node:net'

export type Places = ReturnType<typeof newPlaces>

/**
 * Gap 390: when all places are taken, the longest idle connection yields to a new one, so connections that send nothing cannot keep
 * a lab out. A connection in the middle of a message does not yield.
 */
export function newPlaces(limit: number) {
  const taken = new Set<Socket>()
  /** The longest idle connection comes first. */
  const idle = new Set<Socket>()

  function leave(socket: Socket) {
    taken.delete(socket)
    idle.delete(socket)
    socket.destroy()
  }

  function take(socket: Socket) {
    const [longestIdle] = idle
    if (taken.size >= limit && longestIdle) leave(longestIdle)
    if (taken.size >= limit) return false
    taken.add(socket)
    idle.add(socket)
    socket.on('close', () => leave(socket))
    return true
  }

  return {
    take,
    setBusy: (socket: Socket) => void idle.delete(socket),
    setIdle: (socket: Socket) => void (taken.has(socket) && idle.add(socket)),
    closeAll: () => taken.forEach(leave),
  }
}
