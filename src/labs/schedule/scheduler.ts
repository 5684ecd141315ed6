import type { Calendar } from '../../contract/labs/calendars.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { DAY, later } from '../../platform/time.ts'
import { zipLocator } from '../geography/homes.ts'
import type { Home } from '../geography/rules-distance.ts'
import * as rules from './rules-slots.ts'
import { sandboxCalendars } from './sandbox.ts'
import * as store from './store.ts'

/** The site or the home of a visit. */
export type Place = { lab: { slug: string; aliases: string[] }; codes?: string[] | undefined } | { home: Home }
/** A calendar of the team, or of the operator, whose time all teams share. */
export type Planned = Calendar & { isShared?: boolean }
export type FreeSlot = rules.Span & { calendar: Planned; day: string; free: number }
type VisitRef = { team_id: string; id: string; calendar_code: string | null }
type Search = { start_date?: string | null | undefined; now: string }
/** The time of a slot. With an end, only slots of that length count. */
export type SlotTime = { start: string; end?: string | undefined }
export type BookedSlot = rules.Span & { calendar: Planned }

/**
 * Where visits are booked. Book and cancel run in the transaction of the appointment, so an adapter that needs the network
 * queues the work in its own table, and the visit is pending until it reports. The progress of visits comes in through `reportVisit`.
 */
export type Scheduler = {
  /** The calendars of a place: its sites, or the phlebotomists who travel there. `further` calendars count too. */
  calendars(app: App, team_id: string, place: Place, further?: Planned[]): Promise<Planned[]>
  /** The calendar with a code. */
  find(app: App, team_id: string, code: string): Promise<Planned | undefined>
  slots(app: App, team_id: string, calendars: Planned[], search: Search): Promise<FreeSlot[]>
  /** Books the slot that begins at a time in the first calendar that has it free; throws if none has. */
  book(app: AppInTransaction, visit: VisitRef, calendars: Planned[], time: SlotTime): Promise<BookedSlot>
  /** Books another slot, and releases the present one. */
  move(app: AppInTransaction, visit: VisitRef, calendars: Planned[], time: SlotTime): Promise<BookedSlot>
  cancel(app: AppInTransaction, visit: VisitRef): Promise<unknown>
}

type Source = (app: App, team_id: string) => Promise<Planned[]>

/** Books against calendars. The database makes sure that a seat is booked once. */
const scheduleOf = (source: Source): Scheduler => ({
  calendars: async (app, team_id, place, further = []) => calendarsAt(app, [...(await source(app, team_id)), ...further], place),
  find: async (app, team_id, code) => (await source(app, team_id)).find((calendar) => calendar.code === code),
  slots: freeSlots,
  book: bookSlot,
  move: async (app, visit, calendars, time) => {
    // Its own time is free for the visit, and comes back with the rollback if the booking fails.
    await releaseTime(app, visit)
    return bookSlot(app, visit, calendars, time)
  },
  cancel: releaseTime,
})

/** A requested visit has no time yet. */
async function releaseTime({ db }: App, { team_id, id: appointment_id, calendar_code }: VisitRef) {
  if (calendar_code) await store.releaseCells(db, { team_id, calendar_code, appointment_id })
}

async function calendarsAt(app: App, calendars: Planned[], place: Place) {
  if ('home' in place) {
    const locate = await zipLocator(app)
    return calendars.filter((calendar) => rules.travelsTo(calendar, place.home, locate))
  }
  const { lab, codes } = place
  return calendars.filter(
    (calendar) =>
      calendar.kind === 'site' && [lab.slug, ...lab.aliases].includes(calendar.provider) && (!codes || codes.includes(calendar.code)),
  )
}

async function freeSlots(app: App, team_id: string, calendars: Planned[], { start_date, now }: Search): Promise<FreeSlot[]> {
  const slots = calendars.flatMap((calendar) =>
    rules.shownDays(calendar, start_date, now).flatMap((day) =>
      rules
        .slotsOn(calendar, day)
        .filter((slot) => rules.isAhead(calendar, slot, now))
        .map((slot) => ({ ...slot, calendar, day })),
    ),
  )
  if (!slots.length) return []
  const starts = slots.map(({ start }) => start).sort()
  const period = { from: starts[0] as string, to: later(starts.at(-1) as string, DAY) }
  const taken = new Set((await takenCells(app, team_id, calendars, period)).map(rules.cellKey))
  return slots.map((slot) => ({ ...slot, free: rules.freeSeats(slot.calendar, slot, taken) })).filter(({ free }) => free > 0)
}

async function takenCells({ db }: App, team_id: string, calendars: Planned[], period: { from: string; to: string }) {
  const [shared, own] = [calendars.filter(({ isShared }) => isShared), calendars.filter(({ isShared }) => !isShared)]
  const codesOf = (some: Planned[]) => some.map(({ code }) => code)
  return [
    ...(own.length ? await store.listTaken(db, team_id, codesOf(own), period) : []),
    ...(shared.length ? await store.listSharedTaken(db, codesOf(shared), period) : []),
  ]
}

async function bookSlot(app: AppInTransaction, { team_id, id }: VisitRef, calendars: Planned[], { start, end }: SlotTime) {
  for (const calendar of calendars) {
    const slot = rules.slotAt(calendar, start)
    if (!slot || (end && slot.end !== end) || !rules.isAhead(calendar, slot, app.now())) continue
    if (await claimTime(app, { team_id, id }, calendar, slot)) return { ...slot, calendar }
  }
  throw rules.slotTaken()
}

/** Occupies the first free seat of a calendar; returns whether there was one. */
export async function claimTime(
  { db }: AppInTransaction,
  { team_id, id: appointment_id }: { team_id: string; id: string },
  calendar: Planned,
  slot: rules.Span,
) {
  const cells = rules.cellsOf(slot)
  const table = calendar.isShared ? 'shared_cells' : 'booked_cells'
  for (let seat = 1; seat <= rules.seatsOf(calendar); seat++)
    if (await store.claimSeat(db, table, { team_id, calendar_code: calendar.code, seat, appointment_id }, cells)) return true
  return false
}

/** The team's own schedule, and the calendars that all teams share. Of equal codes, the team's own counts. */
const ownCalendars: Source = async ({ db }, team_id) => {
  const own: Planned[] = await store.listCalendars(db, team_id)
  const shared = (await store.listSharedCalendars(db)).map((calendar) => ({ ...calendar, isShared: true }))
  return [...own, ...shared.filter(({ code }) => !own.some((calendar) => calendar.code === code))]
}

/** The sandbox has calendars for the places of its catalog, besides the team's own. */
async function allSandboxCalendars(app: App, team_id: string) {
  const own = await ownCalendars(app, team_id)
  const builtIn = await sandboxCalendars(app)
  return [...own, ...builtIn.filter(({ code }) => !own.some((calendar) => calendar.code === code))]
}

const ownSchedule = scheduleOf(ownCalendars)
const sandboxSchedule = scheduleOf(allSandboxCalendars)

export const schedulerOf = ({ config }: App): Scheduler => (config.ENVIRONMENT === 'sandbox' ? sandboxSchedule : ownSchedule)
