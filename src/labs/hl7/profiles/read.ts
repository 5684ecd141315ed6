import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setupProblem } from '../../../platform/problem.ts'
import { checkProfile, extendProfile, type ProfileProblem } from './rules-check.ts'
import type { Profile } from './rules-profile.ts'

const folder = new URL('../../../../catalog/lab-profiles/', import.meta.url)

/** The names of the profiles that come with Assay. */
export const builtInProfiles = () =>
  readdirSync(folder)
    .map((file) => file.replace(/\.json$/, ''))
    .sort()

/** The text of a built-in profile. */
export function builtInText(name: string) {
  if (builtInProfiles().includes(name)) return readFileSync(new URL(`${name}.json`, folder), 'utf8')
  throw setupProblem(`There is no such file and no built-in profile with this name; built in are ${builtInProfiles().join(', ')}`)
}

/** A built-in profile. A test checks that each is valid. */
export const readBuiltIn = (name: string) => checkProfile(parseObject(builtInText(name))).profile as Profile

/** Reads the text of a profile. `extends` names a built-in profile that the other fields change. */
export function readProfile(text: string): { profile?: Profile; problems: ProfileProblem[] } {
  const { extends: base, ...changes } = parseObject(text)
  if (base === undefined) return checkProfile(changes)
  if (typeof base === 'string' && builtInProfiles().includes(base))
    return checkProfile(extendProfile(parseObject(builtInText(base)), changes))
  return { problems: [{ path: 'extends', message: `Must be one of ${builtInProfiles().join(', ')}.` }] }
}

/** A profile from its file, or a built-in one by its name. */
export function loadProfile(file: string, readText = (path: string) => readFileSync(path, 'utf8')): Profile {
  const { profile, problems } = readProfile(existsSync(file) ? readText(file) : builtInText(file))
  if (profile && !problems.length) return profile
  throw setupProblem('The profile has problems; list them with: assay labs check')
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw setupProblem('The profile is not a JSON object')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
