import { tooMany } from '../../platform/problem.ts'

const MB = 1024 * 1024
/** A credential that has no other body in flight can send one of the maximum size. */
export const BODIES_OF_CREDENTIAL = 128 * MB
export const BODIES_OF_PROCESS = 256 * MB

export type BodiesInFlight = ReturnType<typeof newBodiesInFlight>

/** The memory that bodies need until their responses are sent, by credential. */
export function newBodiesInFlight(limits = { ofCredential: BODIES_OF_CREDENTIAL, ofProcess: BODIES_OF_PROCESS }) {
  const byCredential = new Map<string, number>()
  let all = 0

  const add = (credential: string, bytes: number) => {
    all += bytes
    const left = (byCredential.get(credential) ?? 0) + bytes
    if (left) byCredential.set(credential, left)
    else byCredential.delete(credential)
  }

  /** A body that arrives: `grow` says how much memory it needs by now, and refuses it if there is no room. */
  return (credential: string) => {
    let taken = 0
    return {
      grow(bytes: number) {
        const more = Math.max(0, bytes - taken)
        if ((byCredential.get(credential) ?? 0) + more > limits.ofCredential || all + more > limits.ofProcess) throw tooMuchInFlight()
        add(credential, more)
        taken += more
      },
      release() {
        add(credential, -taken)
        taken = 0
      },
    }
  }
}

const tooMuchInFlight = () =>
  tooMany('TOO_MUCH_IN_FLIGHT', 'Too many other bodies are still being processed. Send this request again after a second.', 1)
