import { addDays } from '../../../platform/time.ts'

/** When results are due, counted from the day of collection. */
export const dueDatesOf = (collected_on: string | null, common_tat_days: number | null, worst_case_tat_days: number | null) => ({
  expected_result_by_date: daysAfter(collected_on, common_tat_days),
  worst_case_result_by_date: daysAfter(collected_on, worst_case_tat_days),
})

const daysAfter = (day: string | null, days: number | null) => (day === null || days === null ? null : addDays(day, days))
