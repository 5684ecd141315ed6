import type { api } from '../../api.ts'
import { formatCount, formatDate, humanize, pluralize } from '../../format.ts'

type Found = Awaited<ReturnType<typeof api.getDataDays>>
type ResourceDays = Found['resources'][number]

const DAY_MS = 86_400_000

/** All days of the period, oldest first. */
function listDays({ start_date, end_date }: Found) {
  const days: string[] = []
  for (let at = Date.parse(start_date); at <= Date.parse(end_date); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

/** One row per resource and source, one square per day. A darker square has more data than is usual for the row. */
export function DayGrid({ found }: { found: Found }) {
  const days = listDays(found)
  return (
    // A scrollable region must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div class="scroll" tabIndex={0} role="region" aria-label="Days with data">
      <table class="day-grid">
        <caption class="sr">
          Days with data from {formatDate(found.start_date)} to {formatDate(found.end_date)}
        </caption>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">
              <span class="row between">
                <span>{formatDate(found.start_date)}</span>
                <span>{formatDate(found.end_date)}</span>
              </span>
            </th>
            <th scope="col" class="right">
              Days
            </th>
            <th scope="col" class="right wide">
              Longest gap
            </th>
          </tr>
        </thead>
        <tbody>
          {found.resources.map((row) => (
            <ResourceRow key={`${row.resource} ${row.provider}`} row={row} days={days} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ResourceRow({ row, days }: { row: ResourceDays; days: string[] }) {
  const counts = new Map(row.days.map(({ date, count }) => [date, count]))
  const usual = median(row.days.map(({ count }) => count))
  const gap = longestGap(days, counts)
  const label = `${row.days.length} of ${days.length} days with data, longest gap ${pluralize(gap, 'day')}`
  return (
    <tr>
      <th scope="row">
        {humanize(row.resource)} <span class="small muted">{humanize(row.provider)}</span>
      </th>
      <td>
        <span class="days" role="img" aria-label={label}>
          {days.map((day) => {
            const count = counts.get(day) ?? 0
            return <span key={day} class={`level-${levelOf(count, usual)}`} title={`${formatDate(day)}: ${formatCount(count)}`} />
          })}
        </span>
      </td>
      <td class="right nowrap">
        {row.days.length}
        <span class="small muted"> of {days.length}</span>
      </td>
      <td class="right wide nowrap">{gap ? pluralize(gap, 'day') : <span class="faint">None</span>}</td>
    </tr>
  )
}

const median = (counts: number[]) => counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 1

/** 0 without data, 1 for less than half of the usual, 2 for the usual and more. */
const levelOf = (count: number, usual: number) => (count === 0 ? 0 : count < usual / 2 ? 1 : 2)

/** The most days in a row without data, since the first day that has some. */
function longestGap(days: string[], counts: Map<string, number>) {
  let [longest, current] = [0, 0]
  for (const day of days.slice(days.findIndex((day) => counts.has(day)))) {
    current = counts.has(day) ? 0 : current + 1
    longest = Math.max(longest, current)
  }
  return longest
}
