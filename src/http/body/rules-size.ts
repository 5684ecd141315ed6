import { MAX_STREAM_VALUES } from '../../contract/wearables/streams.ts'
import { problem } from '../../platform/problem.ts'
import { MAX_DEPTH, nestedTooDeeply } from '../input.ts'
import { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, jsonTokens, OPEN_LIST, OPEN_OBJECT } from './json-tokens.ts'

/** The longest list that an endpoint accepts. */
export const MAX_LIST_ENTRIES = MAX_STREAM_VALUES
/** Numbers and other values: several such streams. */
export const MAX_VALUES = 2_500_000
/** Objects, lists and texts take more memory than numbers. The samples of a push have fewer. */
export const MAX_OBJECTS = 1_000_000

/** An estimate of the memory that a parsed object, list or text needs besides its bytes. */
const OBJECT_BYTES = 64

/**
 * Measures JSON text while it arrives, and refuses it as soon as a list is too long or the text has too many values. Returns how much
 * memory the text so far needs, as bytes and parsed.
 */
export function jsonMeter() {
  /** The number of entries of each open list; -1 for an object. */
  const open: number[] = []
  let bytesSoFar = 0
  let values = 0
  let objects = 0
  const count = () => {
    const entries = open.at(-1) ?? -1
    if (++values > MAX_VALUES) throw tooLarge(`The body has more than ${MAX_VALUES.toLocaleString('en-US')} values.`)
    if (entries < 0) return
    open[open.length - 1] = entries + 1
    if (entries + 2 > MAX_LIST_ENTRIES)
      throw tooLarge(`A list in the body has more than ${MAX_LIST_ENTRIES.toLocaleString('en-US')} entries.`)
  }
  const countObject = (by: number) => {
    objects += by
    if (objects > MAX_OBJECTS) throw tooLarge(`The body has more than ${MAX_OBJECTS.toLocaleString('en-US')} objects, lists and texts.`)
  }
  const scan = jsonTokens(
    (byte) => {
      if (byte === COMMA) count()
      // A text before a colon is the name of a field, which costs no memory of its own.
      else if (byte === COLON) countObject(-1)
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        countObject(1)
        open.push(byte === OPEN_LIST ? 0 : -1)
        if (open.length > MAX_DEPTH) throw nestedTooDeeply(['body'])
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) open.pop()
    },
    () => countObject(1),
  )
  return (bytes: Buffer) => {
    scan(bytes)
    bytesSoFar += bytes.length
    return 2 * bytesSoFar + OBJECT_BYTES * objects
  }
}

export const tooLarge = (why: string) => problem('BODY_TOO_LARGE', `${why} Split the request.`)
