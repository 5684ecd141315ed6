import { isSince25 } from '../messages/rules-header.ts'
import { Profile } from './rules-profile.ts'

export type ProfileProblem = { path: string; message: string }

/** A profile, or every problem of it. */
export function checkProfile(value: unknown): { profile?: Profile; problems: ProfileProblem[] } {
  const parsed = Profile.safeParse(value)
  if (parsed.success) return { profile: parsed.data, problems: contradictions(parsed.data) }
  return { problems: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) }
}

type Rule = { path: string; isBroken: boolean; message: string }

/** Without either acknowledgment mode, the lab always answers. */
const isNeverSure = ({ accept_acknowledgment: accept, application_acknowledgment: application }: Profile['message']) =>
  (accept !== null || application !== null) && accept !== 'AL' && application !== 'AL'

/** Settings that are valid alone and wrong together. */
function contradictions({ version, message, order, billing, results, patient, aoe }: Profile): ProfileProblem[] {
  const isOml = order.message_type === 'OML^O21'
  const isPerTest = order.grouping === 'message_per_test'
  const rules: Rule[] = [
    {
      path: 'order.message_type',
      isBroken: isOml && ['2.3', '2.3.1'].includes(version),
      message: `OML^O21 does not exist in ${version}. Use ORM^O01.`,
    },
    {
      path: 'message.accept_acknowledgment',
      isBroken: isNeverSure(message),
      message: 'A lab that does not always answer cannot confirm an order. Use AL here or in application_acknowledgment.',
    },
    {
      path: 'order.grouping',
      isBroken: isOml && !isPerTest,
      message: 'Parsers take the second ORC of OML^O21 for an earlier result. Use message_per_test.',
    },
    {
      path: 'order.number_per_test',
      isBroken: isPerTest && !order.number_per_test,
      message: 'Messages of one test each need their own numbers. Use true.',
    },
    {
      path: 'order.number_per_test',
      isBroken: order.grouping === 'one_orc' && order.number_per_test,
      message: 'Tests below one ORC share its number. Use false.',
    },
    {
      path: 'order.specimen_in',
      isBroken: order.specimen_in === 'SPM' && (!isSince25(version) || !isOml),
      message: 'SPM exists since 2.5, and only in OML^O21. Use OBR-15.',
    },
    {
      path: 'order.priority.in',
      isBroken: order.priority.in === 'TQ1-9' && (!isSince25(version) || !isOml),
      message: 'TQ1 exists since 2.5, and only in OML^O21. Use OBR-5 or OBR-27.6.',
    },
    {
      path: 'message.encoding_characters',
      isBroken: message.encoding_characters.length > 4 && !isSince25(version),
      message: `${version} has four encoding characters.`,
    },
    { path: 'message.profile_ids', isBroken: message.profile_ids.length > 0 && !isSince25(version), message: `${version} has no MSH-21.` },
    {
      path: 'results.performing_lab_in',
      isBroken: results.performing_lab_in === 'OBX-23' && version !== '2.5.1',
      message: `${version} has no OBX-23. Use ZPS.`,
    },
    {
      path: 'billing.type_in',
      isBroken: billing.type_in.includes('IN1-47') && billing.insurance !== 'always',
      message: 'The bill type of every order is in IN1-47 only if billing.insurance is always.',
    },
    {
      path: 'billing.type_in',
      isBroken: billing.type_in.includes('PID-18.4') && !patient.account_in,
      message: 'PID-18.4 needs patient.account_in PID-18.',
    },
    {
      path: 'aoe.observation_type',
      isBroken: aoe.observation_type !== null && !isSince25(version),
      message: `${version} has no OBX-29.`,
    },
  ]
  return rules.filter(({ isBroken }) => isBroken).map(({ path, message }) => ({ path, message }))
}

/** Applies the fields of a file to the profile that it extends. Objects are merged; other values, such as lists, are replaced. */
export function extendProfile(base: unknown, changes: unknown): unknown {
  if (!isObject(base) || !isObject(changes)) return changes
  const merged = Object.entries(changes).map(([name, value]) => [name, name in base ? extendProfile(base[name], value) : value])
  return { ...base, ...Object.fromEntries(merged) }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
