import { cutIntoSlices } from '../../platform/shares/slices.ts'
import { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, jsonTokens, OPEN_LIST, OPEN_OBJECT } from './json-tokens.ts'

const SLICE_BYTES = 64 * 1024

/** An open list or object. `value` exists once a part of it is parsed. The unparsed part begins at `from`. */
type Frame = {
  isList: boolean
  start: number
  from: number
  lastComma: number
  value: unknown[] | Record<string, unknown> | undefined
  /** Its last child was added as a value, and the next token must be a comma or the end. */
  isAfterChild: boolean
}

type Options = {
  sliceBytes?: number
  /** Called with the path and the value of each part before it is added. */
  check?: (path: (string | number)[], value: unknown) => void
}

/**
 * Parses JSON in slices, and lets other requests run in between. The result is that of JSON.parse, which also parses the slices.
 * Throws a SyntaxError for text that is not JSON. A thread would need more memory (gap 394).
 */
export async function parseInSlices(bytes: Buffer, { sliceBytes = SLICE_BYTES, check = () => {} }: Options = {}): Promise<unknown> {
  const frames: Frame[] = []
  let root: { value: unknown; end: number } | undefined

  const textOf = (from: number, to: number) => bytes.toString('utf8', from, to)
  const parseSlice = (open: string, end: string, from: number, to: number): unknown => {
    try {
      return JSON.parse(`${open}${textOf(from, to)}${end}`)
    } catch {
      throw new SyntaxError(`Not JSON after byte ${from}`)
    }
  }
  const isBlank = (from: number, to: number) => /^[ \t\r\n]*$/.test(textOf(from, to))
  const pathTo = (depth: number): (string | number)[] =>
    frames.slice(0, depth).map(({ isList, value, lastComma, start }, i) => {
      const child = frames[i + 1]?.start ?? start
      return isList ? (value as unknown[]).length : nameIn(lastComma + 1, child)
    })
  const nameIn = (from: number, to: number) => {
    const [, name] = /^[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*$/.exec(textOf(from, to)) ?? []
    if (name === undefined) throw new SyntaxError('A field has no name')
    return JSON.parse(name) as string
  }

  /** Parses the children of a frame up to a comma or its end. */
  const take = (frame: Frame, depth: number, to: number) => {
    const { from } = frame
    frame.from = to + 1
    if (frame.isAfterChild) {
      frame.isAfterChild = false
      if (!isBlank(from, to)) throw new SyntaxError('A comma is missing')
      return
    }
    if (isBlank(from, to)) throw new SyntaxError('A value is missing')
    if (frame.isList) {
      const list = frame.value as unknown[]
      const path = pathTo(depth)
      for (const entry of parseSlice('[', ']', from, to) as unknown[]) {
        check([...path, list.length], entry)
        list.push(entry)
      }
    } else {
      const fields = parseSlice('{', '}', from, to) as Record<string, unknown>
      check(pathTo(depth), fields)
      for (const [name, value] of Object.entries(fields)) setField(frame.value as Record<string, unknown>, name, value)
    }
  }

  /** Gives a frame and those around it a value, with the children before the open one. */
  const materialize = (depth: number) => {
    for (let i = 0; i <= depth; i++) {
      const frame = frames[i] as Frame
      if (frame.value) continue
      frame.value = frame.isList ? [] : {}
    }
    for (let i = 0; i < depth; i++) {
      const frame = frames[i] as Frame
      const child = frames[i + 1] as Frame
      if (frame.lastComma >= frame.from) take(frame, i, frame.lastComma)
      if (frame.isList && !isBlank(frame.from, child.start)) throw new SyntaxError('A comma is missing')
    }
  }

  const close = (position: number) => {
    const frame = frames.at(-1) as Frame
    const depth = frames.length - 1
    if (frame.value || position - frame.from >= sliceBytes || !depth) {
      materialize(depth)
      const isEmpty = frame.from === frame.start + 1 && isBlank(frame.from, position)
      if (!isEmpty) take(frame, depth, position)
      const parent = frames[depth - 1]
      if (!parent) root = { value: frame.value, end: position + 1 }
      else {
        if (parent.isList) (parent.value as unknown[]).push(frame.value)
        else {
          const name = nameIn(parent.lastComma + 1, frame.start)
          check(pathTo(depth - 1), { [name]: null })
          setField(parent.value as Record<string, unknown>, name, frame.value)
        }
        parent.isAfterChild = true
        parent.from = position + 1
      }
    }
    frames.pop()
  }

  const scan = jsonTokens((byte, position) => {
    const frame = frames.at(-1)
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (root || (!frame && !isBlank(0, position))) throw new SyntaxError('Text outside the value')
      frames.push({
        isList: byte === OPEN_LIST,
        start: position,
        from: position + 1,
        lastComma: position,
        value: undefined,
        isAfterChild: false,
      })
      return
    }
    if (!frame) throw new SyntaxError('Text outside the value')
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (frame.isList !== (byte === CLOSE_LIST)) throw new SyntaxError('A wrong bracket')
      close(position)
    } else if (byte === COMMA) {
      frame.lastComma = position
      if (frame.isAfterChild || position - frame.from >= sliceBytes) {
        materialize(frames.length - 1)
        take(frame, frames.length - 1, position)
      }
    } else if (byte === COLON && frame.isAfterChild) throw new SyntaxError('A comma is missing')
  })

  const endSlice = cutIntoSlices()
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    scan(bytes.subarray(from, from + sliceBytes))
    await endSlice()
  }
  if (!root) return JSON.parse(bytes.toString())
  if (frames.length || !isBlank(root.end, bytes.length)) throw new SyntaxError('Text after the value')
  return root.value
}

/** A field can have the name __proto__, which an assignment would not add. */
const setField = (object: Record<string, unknown>, name: string, value: unknown) =>
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
