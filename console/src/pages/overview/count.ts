import type { api } from '../../api.ts'
import { formatCountAtLeast } from '../../format.ts'

export type Overview = Awaited<ReturnType<typeof api.getOverview>>
export type Count = { count: number; at_least: boolean }

export const formatCountOf = ({ count: n, at_least }: Count) => formatCountAtLeast(n, at_least)
