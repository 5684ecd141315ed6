import type { MetricObject } from 'prom-client'
import { streamCounts } from '../http/connections/stream-counts.ts'
import { SECOND } from '../platform/time.ts'
import type { Child } from './child.ts'
import type { Report } from './messages.ts'

/** A process that is busy for this long is missing from a scrape. */
const METRICS_TIMEOUT_MS = 2 * SECOND

type Collection = { missing: Set<Child>; metrics: MetricObject[][]; finish(): void }

/** Connects the processes of a service: what one of them asks for, the others provide. */
export function newRelay() {
  const children = new Set<Child>()
  const streams = streamCounts()
  const collections = new Map<number, Collection>()
  let lastId = 0

  function collectMetrics(asking: Child, id: number) {
    const collection = ++lastId
    const others = [...children].filter((child) => child !== asking)
    const metrics: MetricObject[][] = []
    const finish = () => {
      clearTimeout(timer)
      if (collections.delete(collection)) asking.send({ type: 'collected metrics', id, metrics })
    }
    const timer = setTimeout(finish, METRICS_TIMEOUT_MS)
    collections.set(collection, { missing: new Set(others), metrics, finish })
    for (const child of others) child.send({ type: 'collect metrics', id: collection })
    if (!others.length) finish()
  }

  /** A process that has ended does not answer. */
  function settle(child: Child, id: number, metrics?: MetricObject[]) {
    const collection = collections.get(id)
    if (!collection?.missing.delete(child)) return
    if (metrics) collection.metrics.push(metrics)
    if (!collection.missing.size) collection.finish()
  }

  return {
    /** Answers a process until it ends. Call the returned function when it has started: it can provide metrics then. */
    add(child: Child) {
      const open: string[] = []
      child.onReport((report: Report) => {
        if (report.type === 'collect metrics') collectMetrics(child, report.id)
        if (report.type === 'metrics') settle(child, report.id, report.metrics)
        if (report.type === 'open stream') {
          const isOpen = streams.open(report.team, report.limit)
          if (isOpen) open.push(report.team)
          child.send({ type: 'opened stream', id: report.id, isOpen })
        }
        if (report.type === 'close stream') {
          open.splice(open.indexOf(report.team), 1)
          streams.close(report.team)
        }
      })
      void child.ended.then(() => {
        children.delete(child)
        for (const id of collections.keys()) settle(child, id)
        for (const team of open) streams.close(team)
      })
      return () => void children.add(child)
    },
  }
}
