import type { z } from 'zod'
import { ClientSettings, Settings } from '../src/platform/config.ts'
import { code, prose, table } from './markdown.ts'

function rowsOf(shape: Record<string, z.ZodType>) {
  return Object.entries(shape).map(([name, setting]) => {
    const fallback = setting.safeParse(undefined)
    const value = fallback.success && ['string', 'number'].includes(typeof fallback.data) ? code(String(fallback.data)) : 'unset'
    return [code(name), value, setting.description ?? '']
  })
}

export const configPage = () =>
  [
    '# Settings',
    '',
    ...prose(
      'You configure Assay with environment variables. The service reads them once at startup. If a value is invalid, the service does not start and prints which setting is wrong.',
      'This page is generated from `src/platform/config.ts` by `npm run generate`.',
    ),
    '## Service settings',
    '',
    ...table(['Setting', 'Default', 'Effect'], rowsOf(Settings.shape)),
    '## Client settings',
    '',
    ...prose('[Commands that use the API](cli.md) read these settings and `DATA_DIR`.'),
    ...table(['Setting', 'Default', 'Effect'], rowsOf(ClientSettings.shape)),
  ].join('\n')
