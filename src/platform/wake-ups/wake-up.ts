/** Tells a process that something has changed, so that it does not look for it. A wake-up may be lost, so each receiver also looks by itself. */
export type WakeUp =
  /** The events or the delivery settings of a team changed. The owner of its log receives it. */
  | { type: 'team log'; id: string }
  /** A job has work. The ID is its name. */
  | { type: 'job'; id: string }
  /** A key, a team or an organization that identifies callers changed. Every process receives it. */
  | { type: 'caller changed'; id: string }

/** What a process does when it is woken. */
export type Receivers = { [T in WakeUp['type']]?: (id: string) => void }

/** Returns whether this process does what the wake-up is for. */
export function receive(receivers: Receivers, { type, id }: WakeUp) {
  receivers[type]?.(id)
  return receivers[type] !== undefined
}
