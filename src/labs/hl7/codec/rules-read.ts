import type { Component, Field, Message, Repetition, Segment } from './rules-message.ts'

export const segmentsOf = ({ segments }: Pick<Message, 'segments'>, name: string) => segments.filter((segment) => segment.name === name)

export const segmentOf = ({ segments }: Pick<Message, 'segments'>, name: string) => segments.find((segment) => segment.name === name)

export const fieldOf = (segment: Segment | undefined, field: number): Field => segment?.fields[field - 1] ?? []

/** A value of the first repetition: the first component of a field, unless another is named. HL7 counts from 1. */
export const readValue = (segment: Segment | undefined, field: number, component = 1, subcomponent = 1): string =>
  partOf(fieldOf(segment, field)[0], component, subcomponent)

/** A value of a repetition. Two double quotes say that there is none. */
export function partOf(repetition: Repetition | undefined, component: number, subcomponent = 1): string {
  const text = (repetition?.[component - 1]?.[subcomponent - 1] ?? '').trim()
  return text === '""' ? '' : text
}

/** The whole text of a field. A delimiter that a lab forgot to escape counts as text. */
export const textOf = (segment: Segment | undefined, field: number, { component, subcomponent, repetition }: Message['delimiters']) =>
  fieldOf(segment, field)
    .map((one) => one.map((part: Component) => part.join(subcomponent)).join(component))
    .join(repetition)
    .trim()
