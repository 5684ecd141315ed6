import type { SeriesName } from '../../../contract/wearables/series.ts'
import { DAY, HOUR, later, SECOND } from '../../../platform/time.ts'
import type { Call, Cloud, Feed, PullContext, Region, Window } from '../cloud.ts'
import { mapped } from '../reading/records.ts'
import * as api from './api.ts'
import * as map from './map.ts'

const WINDOW_DAYS = 30

/** Dexcom sends no notifications, and its data is one to three hours late. */
const polled = { scopes: ['offline_access'], windowDays: WINDOW_DAYS, pollMs: HOUR }

const glucose: Feed = {
  resources: ['glucose'],
  ...polled,
  trailingDays: 1,
  async *pull(call, window, context) {
    for (const part of await partsOf(call, 'egvs', window, context))
      yield { samples: [{ name: 'glucose', items: mapped(call, 'egv', await api.listEgvs(call, part), map.glucoseOf).flat() }] }
  },
}

const eventSeries: SeriesName[] = ['carbohydrates', 'insulin_injection', 'note', 'workout_duration']

/** Users change and delete events afterwards. A list contains every event of its window, so those that are missing were deleted. */
const events: Feed = {
  resources: eventSeries,
  ...polled,
  trailingDays: 7,
  async *pull(call, window, context) {
    for (const part of await partsOf(call, 'events', window, context)) {
      const samples = mapped(call, 'event', await api.listEvents(call, part), map.sampleOf).flat()
      const names: SeriesName[] = [...eventSeries, 'glucose']
      yield {
        samples: names.map((name) => ({ name, items: samples.filter((sample) => sample.name === name).map(({ item }) => item) })),
        complete: { series: names, window: listedIn(part), types: { glucose: ['fingerprick'] } },
      }
    }
  },
}

/** Windows are in whole seconds, without their end. */
const listedIn = ({ from, to }: Window): Window => ({ from, to: new Date(Math.floor(Date.parse(to) / SECOND) * SECOND - 1).toISOString() })

/** Dexcom gives wrong ranges for an older time. */
const MAX_SYNC_AGE_MS = WINDOW_DAYS * DAY

/**
 * The windows to read, newest first. New data can be older than the last read, because receivers are uploaded by hand.
 * Without new records there is nothing to read, except that deleted events do not count as new.
 */
async function partsOf(call: Call, kind: 'egvs' | 'events', window: Window, { stage, now }: PullContext): Promise<Window[]> {
  if (stage === 'historical' || window.from < later(now, -MAX_SYNC_AGE_MS)) return [window]
  const range = (await api.getDataRange(call, window.from))[kind]
  if (!range) return kind === 'egvs' ? [] : [window]
  const start = map.instantOf(range.start.systemTime) ?? Date.parse(window.from)
  const parts: Window[] = [window]
  for (let to = Date.parse(window.from); to > start; to -= WINDOW_DAYS * DAY)
    parts.push({ from: new Date(Math.max(start, to - WINDOW_DAYS * DAY)).toISOString(), to: new Date(to).toISOString() })
  return parts.slice(0, MAX_PARTS)
}

/** A wrong range must not cause endless requests. */
const MAX_PARTS = 13

const region = (name: string, origin: string): Region => ({
  ...{ name, api_url: origin },
  ...{ authorize_url: `${origin}/v2/oauth2/login`, token_url: `${origin}/v2/oauth2/token` },
})

export const dexcomV3: Cloud = {
  api_url: 'https://api.dexcom.com',
  regions: {
    us: region('United States', 'https://api.dexcom.com'),
    eu: region('Outside the United States', 'https://api.dexcom.eu'),
    jp: region('Japan', 'https://api.dexcom.jp'),
  },
  identify: async (call) => (await api.getDataRange(call)).userId,
  feeds: { glucose, events },
}
