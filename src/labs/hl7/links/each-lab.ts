import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { SECOND } from '../../../platform/time.ts'

/** While a lab is slow, work for the others is looked for this often. */
const SEARCH_EVERY_MS = SECOND / 10

type WithCaches = Pick<Service, 'caches'>

const stops = declareCache(() => ({ isStopping: false }))
export const isStopping = (app: WithCaches) => stops(app).isStopping

/** Lets the work with labs end after the current message. */
export const stopLabWork = (app: WithCaches) => {
  stops(app).isStopping = true
}

/** Does the work of each unit that is due, all at once, and looks for more until none is running. So a slow lab delays no other. */
export async function forEachDue<T>(app: WithCaches, findDue: () => Promise<Map<string, T>>, work: (unit: T) => Promise<unknown>) {
  const running = new Map<string, Promise<void>>()
  const errors: unknown[] = []
  const start = async (name: string, unit: T) => {
    await work(unit).catch((error) => errors.push(error))
    running.delete(name)
  }
  do {
    const due = await findDue().catch((error) => void errors.push(error))
    for (const [name, unit] of due ?? []) if (!running.has(name) && !isStopping(app)) running.set(name, start(name, unit))
    const pause = new AbortController()
    const ended = Promise.all(running.values()).then(() => pause.abort())
    await Promise.race([ended, sleep(SEARCH_EVERY_MS, undefined, pause).catch(() => {})])
  } while (running.size)
  if (errors.length) throw errors[0]
}
