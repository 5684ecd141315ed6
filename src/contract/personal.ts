import { z } from 'zod'

/** The ways to mask a personal value in the console: `name` and `email` keep an initial, `phone` two digits, `text` nothing. */
const kinds = ['name', 'date', 'email', 'phone', 'text'] as const
/** Event messages as objects, as JSON text or as a stream. The event type decides which of their fields are personal. */
const messages = ['message', 'message_text', 'message_stream'] as const

type PersonalKind = (typeof kinds)[number]
export type Mark = 'safe' | PersonalKind | (typeof messages)[number]

const marks = z.registry<{ mark: Mark }>()

export const markOf = (shape: z.ZodType): Mark | undefined => marks.get(shape)?.mark

/** Marks a copy, so that a shared shape stays unchanged. */
function mark<S extends z.ZodType>(shape: S, mark: Mark): S {
  const copy = shape.clone() as S
  marks.add(copy, { mark })
  return copy
}

/**
 * Marks data about a patient or a related person. The console masks it until it is revealed.
 * Numbers become null. In an object, every field is masked.
 */
export const personal = <S extends z.ZodType>(shape: S, kind: PersonalKind = 'text') => mark(shape, kind)

/** Marks data that identifies no patient: settings, codes, and names of labs, tests, sources and staff. */
export const safe = <S extends z.ZodType>(shape: S) => mark(shape, 'safe')

/** Text that is safe to show. Every string in a response is `Safe`, `personal`, or not free text. */
export const Safe = safe(z.string())

export const PersonName = personal(z.string(), 'name')
export const PersonEmail = personal(z.string(), 'email')
export const PersonPhone = personal(z.string(), 'phone')
export const PersonalText = personal(z.string())

export const message = <S extends z.ZodType>(shape: S) => mark(shape, 'message')
export const messageText = <S extends z.ZodType>(shape: S) => mark(shape, 'message_text')
export const messageStream = <S extends z.ZodType>(shape: S) => mark(shape, 'message_stream')

/** The shapes directly inside a shape. */
export function partsOf(shape: z.ZodType): z.ZodType[] {
  if (shape instanceof z.ZodObject)
    return [...Object.values(shape.shape), ...(shape.def.catchall ? [shape.def.catchall] : [])] as z.ZodType[]
  if (shape instanceof z.ZodArray) return [shape.element as z.ZodType]
  if (shape instanceof z.ZodRecord) return [shape.keyType, shape.valueType] as z.ZodType[]
  if (shape instanceof z.ZodUnion) return [...shape.options] as z.ZodType[]
  const inner = unwrap(shape)
  return inner ? [inner] : []
}

/** The inner shape of an optional, nullable, default or piped shape. */
export function unwrap(shape: z.ZodType): z.ZodType | undefined {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional || shape instanceof z.ZodDefault) return shape.unwrap() as z.ZodType
  if (shape instanceof z.ZodPipe) return shape.out as z.ZodType
  return undefined
}

const found = new WeakMap<z.ZodType, boolean>()

/** Whether a response of this shape contains personal data. Endpoints share most of their shapes, so each is searched once. */
export function isPersonal(shape: z.ZodType): boolean {
  const known = found.get(shape)
  if (known !== undefined) return known
  const mark = markOf(shape)
  const result = mark ? mark !== 'safe' : partsOf(shape).some(isPersonal)
  found.set(shape, result)
  return result
}
