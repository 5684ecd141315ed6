import { api } from '../../api.ts'
import { refresh } from '../../query.ts'

export type Calendar = Awaited<ReturnType<typeof api.getSchedule>>['calendars'][number]

/** The schedule is replaced as a whole, so it is read again before it is changed. */
export async function changeSchedule(change: (calendars: Calendar[]) => Calendar[]) {
  const { calendars } = await api.getSchedule()
  await api.putSchedule({ body: { calendars: change(calendars) } })
  refresh('schedule')
}
