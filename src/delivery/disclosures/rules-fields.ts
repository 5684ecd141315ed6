import { z } from 'zod'
import { type EventName, eventTypes, isEventName } from '../../contract/events.ts'
import { isPersonal, markOf, unwrap } from '../../contract/personal.ts'

/** Adds the names of personal fields that have a value. Names come from the contract only, because a key of a record can be personal. */
type Find = (value: unknown, found: Set<string>) => void

const finders = new Map<string, Find>()

/** Whether events of a type can have personal fields. Others need no parsing. */
export const isTypePersonal = (event_type: string) => isEventName(event_type) && isPersonal(eventTypes[event_type].data as z.ZodType)

/** The personal fields of an event of a type that have a value, such as `data.patient_details.dob`, sorted. */
export function personalFields(event_type: string, data: unknown): string[] {
  const found = new Set<string>()
  if (isEventName(event_type)) finderOf(event_type)(data, found)
  return [...found].sort()
}

function finderOf(name: EventName): Find {
  const find = finders.get(name) ?? finderIn(eventTypes[name].data as z.ZodType, 'data')
  finders.set(name, find)
  return find
}

function finderIn(shape: z.ZodType, path: string): Find {
  const mark = markOf(shape)
  if (mark === 'safe') return nothing
  if (mark) return whole(path)
  const inner = unwrap(shape)
  if (inner) return finderIn(inner, path)
  if (shape instanceof z.ZodObject) return finderInObject(shape, path)
  if (shape instanceof z.ZodRecord) return finderInRecord(shape, path)
  if (shape instanceof z.ZodUnion) return finderInUnion(shape, path)
  if (shape instanceof z.ZodUnknown || shape instanceof z.ZodAny) return whole(path)
  if (!(shape instanceof z.ZodArray)) return nothing
  const find = finderIn(shape.element as z.ZodType, path)
  return (value, found) => {
    if (Array.isArray(value) && find !== nothing) for (const element of value) find(element, found)
  }
}

const nothing: Find = () => {}

const whole =
  (path: string): Find =>
  (value, found) => {
    if (hasValue(value)) found.add(path)
  }

function hasValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false
  if (typeof value !== 'object') return true
  return Object.values(value).some(hasValue)
}

/** A field that the contract does not name counts as personal. */
function finderInObject(shape: z.ZodObject, path: string): Find {
  const fields = new Map(Object.entries(shape.shape).map(([name, field]) => [name, finderIn(field as z.ZodType, `${path}.${name}`)]))
  const findOther = whole(`${path}.*`)
  return (value, found) => {
    if (isObject(value)) for (const [name, inner] of Object.entries(value)) (fields.get(name) ?? findOther)(inner, found)
  }
}

function finderInRecord(shape: z.ZodRecord, path: string): Find {
  const findKey = isPersonal(shape.keyType as z.ZodType) ? whole(path) : nothing
  const find = finderIn(shape.valueType as z.ZodType, path)
  return (value, found) => {
    if (!isObject(value)) return
    findKey(Object.keys(value), found)
    for (const inner of Object.values(value)) find(inner, found)
  }
}

/** Only the options of the value's type say something about it. */
function finderInUnion(shape: z.ZodUnion, path: string): Find {
  const options = (shape.options as z.ZodType[]).map((option) => ({ type: typeIn(option), find: finderIn(option, path) }))
  return (value, found) => {
    const type = Array.isArray(value) ? 'array' : typeof value
    for (const option of options) if (option.type === type) option.find(value, found)
  }
}

function typeIn(shape: z.ZodType): string {
  const inner = unwrap(shape)
  if (inner) return typeIn(inner)
  if (shape instanceof z.ZodArray) return 'array'
  if (shape instanceof z.ZodObject || shape instanceof z.ZodRecord) return 'object'
  if (shape instanceof z.ZodBoolean) return 'boolean'
  return shape instanceof z.ZodNumber ? 'number' : 'string'
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
