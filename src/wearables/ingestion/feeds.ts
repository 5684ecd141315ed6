import { DAY } from '../../platform/time.ts'
import type { Cloud, Feed } from '../providers/cloud.ts'

/** The feed that enrolls an account at the source. It reads nothing. */
export const ENROLLMENT = 'enrollment'

/** The feeds of a cloud, and its enrollment. */
export const feedsOf = ({ feeds = {}, enroll }: Cloud): Record<string, Feed> =>
  enroll ? { [ENROLLMENT]: enrollment(enroll), ...feeds } : feeds

const enrollment = (enroll: NonNullable<Cloud['enroll']>): Feed => ({
  resources: [],
  scopes: [],
  maxDays: 0,
  windowDays: 1,
  pollMs: DAY,
  trailingDays: 0,
  async *pull(call, _, { now, granted, callback }) {
    await enroll(call, { ...(await callback()), now, granted })
    yield {}
  },
})
