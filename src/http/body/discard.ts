import type { Readable } from 'node:stream'
import { cutIntoSlices } from '../../platform/shares/slices.ts'

/** Discards the rest of a body, so that the client can read the response. In slices, because many long bodies can arrive at once. */
export function discard(body: Readable) {
  const endSlice = cutIntoSlices({ begun: false })
  body.on('data', () => {
    const pause = endSlice()
    if (!pause) return
    body.pause()
    void pause.then(() => body.resume())
  })
  body.resume()
}
