import type { CursorPosition, Position } from '../../../contract/delivery/log-rows.ts'

/** A message that the cursor has read. `previous` is the message before it for the same webhook. */
export type Place = { no: number; at: string; previous: number | null; isDecided: boolean }

/**
 * Follows a cursor through the log: it reads messages in order, they are decided in any order, and the cursor stands before the
 * first undecided one.
 */
export function followPositions({ after_no, after_at, last_no, done }: CursorPosition) {
  /** Decided ones that are not read yet, or have to be read again. */
  const doneBefore = new Set(done)
  /** Those that are being sent, and have to be read again. */
  const sending = new Map<number, Place>()
  let passed: CursorPosition = { after_no, after_at, last_no, done: [] }
  let places: Place[] = []
  let first = 0
  let read: Position = { no: after_no, at: after_at }
  let lastRead = last_no

  function passDecided() {
    for (let place = places[first]; place?.isDecided; place = places[++first])
      passed = { ...passed, after_no: place.no, after_at: place.at, last_no: place.no }
    if (first > 64 && first * 2 > places.length) {
      places = places.slice(first)
      first = 0
    }
  }

  return {
    /** Reads a message. Returns undefined if it is decided or being sent. */
    add({ no, at }: Position): Place | undefined {
      const known = sending.get(no)
      const place = known ?? { no, at, previous: lastRead, isDecided: doneBefore.delete(no) }
      sending.delete(no)
      places.push(place)
      lastRead = no
      read = { no, at }
      return known || place.isDecided ? undefined : place
    },
    /** Reads on past events that are no messages of the webhook. */
    skipTo(position: Position) {
      read = position
    },
    decide(place: Place) {
      place.isDecided = true
      if (sending.get(place.no) !== place) return
      sending.delete(place.no)
      doneBefore.add(place.no)
    },
    /** Goes back to the first undecided message. Those that are being sent keep their places. */
    rewind(isSending: (place: Place) => boolean) {
      passDecided()
      const open = [...places.slice(first), ...sending.values()]
      if (first < places.length) {
        read = { no: passed.after_no, at: passed.after_at }
        lastRead = passed.last_no
      }
      places = []
      first = 0
      sending.clear()
      for (const place of open)
        if (place.isDecided) doneBefore.add(place.no)
        else if (isSending(place)) sending.set(place.no, place)
    },
    read: () => read,
    /** The messages from the first undecided one. */
    length() {
      passDecided()
      return places.length - first
    },
    firstUndecided() {
      passDecided()
      return places[first]
    },
    position(): CursorPosition {
      passDecided()
      const ahead = [...doneBefore].filter((no) => no > read.no)
      if (first === places.length) return { ...passed, after_no: read.no, after_at: read.at, done: ahead }
      return { ...passed, done: [...places.slice(first).flatMap(({ no, isDecided }) => (isDecided ? [no] : [])), ...ahead] }
    },
  }
}

export type Positions = ReturnType<typeof followPositions>
