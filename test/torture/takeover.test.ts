import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { measureTakeover } from './takeover.ts'
import { openSite } from './webhook-site.ts'

test('the remaining processes take over after kill -9 of a worker and an API process under load', async () => {
  const site = await openSite(join(inject('logs'), `torture-takeover-${process.pid}.log`))
  try {
    const { lanes, messages, events, lost, misplaced, faults } = await measureTakeover(site)
    console.log(
      `kill -9 of a worker: ${lanes.length} lanes that it held were taken over after ${spread(lanes)}; ` +
        `of an API process: ${messages.length} messages emitted around it arrived after ${spread(messages)}; ${events} events in all`,
    )
    expect(lanes.length).toBeGreaterThan(0)
    expect({ lost, misplaced, faults }).toEqual({ lost: 0, misplaced: 0, faults: [] })
  } finally {
    await site.close()
  }
})

function spread(times: number[]) {
  const sorted = times.map(Math.round).sort((a, b) => a - b)
  return `${sorted[Math.floor(sorted.length / 2)]} ms (median), ${sorted.at(-1)} ms (longest)`
}
