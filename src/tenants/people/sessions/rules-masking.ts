import { z } from 'zod'
import { eventTypes } from '../../../contract/events.ts'
import { isPersonal, type Mark, markOf, unwrap } from '../../../contract/personal.ts'
import { invalid } from '../../../platform/problem.ts'

const DOTS = '•••'

export type Mask = (value: unknown) => unknown

type Options = {
  /** The values may have fields the shape does not name; those are hidden. */
  loose: boolean
  cache: Map<z.ZodType, Mask>
}

const responseOptions: Options = { loose: false, cache: new Map() }

/** The mask for responses of a shape; undefined if the shape has no personal fields. */
export const maskOf = (shape: z.ZodType): Mask | undefined => (isPersonal(shape) ? buildMask(shape, responseOptions) : undefined)

const show: Mask = (value) => value

/** Hides every string and number, at any depth. */
function hide(value: unknown): unknown {
  if (typeof value === 'string') return value && DOTS
  if (typeof value === 'number') return null
  if (Array.isArray(value)) return value.map(hide)
  return isObject(value) ? mapFields(value, (_, inner) => hide(inner)) : value
}

/** A masked text distinguishes two rows but does not identify a person. */
const maskText =
  (mask: (text: string) => string): Mask =>
  (value) =>
    typeof value === 'string' && value ? mask(value) : hide(value)

const initialOf = (text: string) => `${[...text][0]}${DOTS}`

const masks: Record<Mark, Mask> = {
  safe: show,
  text: hide,
  name: maskText(initialOf),
  email: maskText((text) => `${initialOf(text)}@${DOTS}`),
  date: maskText(() => '••••-••-••'),
  phone: maskText((text) => `${DOTS} ${text.replace(/\D/g, '').slice(-2)}`),
  message: maskMessage,
  message_text: maskText(maskMessageText),
  message_stream: hide,
}

function buildMask(shape: z.ZodType, options: Options): Mask {
  const mark = markOf(shape)
  if (mark) return masks[mark]
  const cached = options.cache.get(shape)
  if (cached) return cached
  const mask = buildUnmarkedMask(shape, options)
  options.cache.set(shape, mask)
  return mask
}

function buildUnmarkedMask(shape: z.ZodType, options: Options): Mask {
  const inner = unwrap(shape)
  if (inner) return buildMask(inner, options)
  if (!options.loose && !isPersonal(shape)) return show
  if (shape instanceof z.ZodObject) return objectMask(shape, options)
  if (shape instanceof z.ZodRecord) return recordMask(shape, options)
  if (shape instanceof z.ZodUnion) return unionMask(shape, options)
  if (shape instanceof z.ZodUnknown || shape instanceof z.ZodAny) return hide
  if (!(shape instanceof z.ZodArray)) return show
  const maskElement = buildMask(shape.element as z.ZodType, options)
  return (value) => (Array.isArray(value) ? value.map(maskElement) : hide(value))
}

function objectMask(shape: z.ZodObject, options: Options): Mask {
  const fields = new Map(Object.entries(shape.shape).map(([name, field]) => [name, buildMask(field as z.ZodType, options)]))
  return (value) => (isObject(value) ? mapFields(value, (name, inner) => (fields.get(name) ?? hide)(inner)) : hide(value))
}

/** Replaces a personal key with its position. */
function recordMask(shape: z.ZodRecord, options: Options): Mask {
  const maskElement = buildMask(shape.valueType as z.ZodType, options)
  const hidesKeys = isPersonal(shape.keyType as z.ZodType)
  const keyOf = (key: string, index: number) => (hidesKeys ? `${DOTS} ${index + 1}` : key)
  return (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner], index) => [keyOf(key, index), maskElement(inner)]))
      : hide(value)
}

/** A value can match several options of the same kind, so the personal option decides. */
function unionMask(shape: z.ZodUnion, options: Options): Mask {
  const candidates = (shape.options as z.ZodType[]).map((option) => ({ kind: kindOf(option), option }))
  const maskFor = (kind: string) => {
    const found = candidates.filter((candidate) => candidate.kind === kind).map(({ option }) => option)
    const option = found.find(isPersonal) ?? found[0]
    return option ? buildMask(option, options) : hide
  }
  const byKind: Record<string, Mask> = {
    string: maskFor('string'),
    number: maskFor('number'),
    object: maskFor('object'),
    list: maskFor('list'),
  }
  return (value) => (byKind[Array.isArray(value) ? 'list' : typeof value] ?? show)(value)
}

function kindOf(shape: z.ZodType): string {
  const inner = unwrap(shape)
  if (inner) return kindOf(inner)
  if (shape instanceof z.ZodArray) return 'list'
  if (shape instanceof z.ZodObject || shape instanceof z.ZodRecord) return 'object'
  return shape instanceof z.ZodNumber ? 'number' : 'string'
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapFields = (value: object, change: (name: string, inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(name, inner)]))

/** Stored events are not trimmed to their shapes, so unnamed fields are hidden. */
const eventMasks = buildEventMasks()

function buildEventMasks() {
  const options: Options = { loose: true, cache: new Map() }
  return new Map<unknown, Mask>(Object.entries(eventTypes).map(([name, { data }]) => [name, buildMask(data as z.ZodType, options)]))
}

/** The envelope of an event is safe; its event type says how to mask its data. */
function maskMessage(message: unknown): unknown {
  if (!isObject(message)) return hide(message)
  const { event_type, data } = message as { event_type?: unknown; data?: unknown }
  return { ...message, data: (eventMasks.get(event_type) ?? hide)(data) }
}

function maskMessageText(text: string) {
  try {
    return JSON.stringify(maskMessage(JSON.parse(text)))
  } catch {
    return DOTS
  }
}

const DATA = 'data: '

/** Only the `data:` lines of an event stream are personal. A line ends at LF; JSON may contain U+2028, where `$` of a pattern matches. */
export const maskChunk = (chunk: string) =>
  chunk
    .split('\n')
    .map((line) => (line.startsWith(DATA) ? `${DATA}${maskMessageText(line.slice(DATA.length))}` : line))
    .join('\n')

/** Rejects masked values, which would overwrite the real ones. */
export function checkNotMasked(value: unknown): void {
  if (typeof value === 'string' && value.includes('••'))
    throw invalid(['body'], 'A field contains a masked value (••). Reveal the data before you change it, or omit the field.')
  if (value && typeof value === 'object') for (const inner of Object.values(value)) checkNotMasked(inner)
}
