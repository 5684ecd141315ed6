import type { Format } from '../../contract/delivery/formats.ts'

/** The format of a destination for the events after a position. */
export type FormatVersion = { after_no: number; format: Format; include_client_user_id: boolean }

export type FormatSettings = Omit<FormatVersion, 'after_no'>

const unchanged: FormatSettings = { format: 'full', include_client_user_id: false }

/** The present settings. The versions are sorted by position. */
export function presentFormat(versions: FormatVersion[]): FormatSettings {
  const { format, include_client_user_id } = versions.at(-1) ?? unchanged
  return { format, include_client_user_id }
}

/** The format of the event at a position. */
export const formatAt = (versions: FormatVersion[], no: number): Format =>
  versions.findLast(({ after_no }) => after_no < no)?.format ?? unchanged.format

/** Absent and null fields stay. */
export type FormatChange = { format?: Format | null | undefined; include_client_user_id?: boolean | null | undefined }

/** The settings after a change, or undefined if they stay the same. */
export function changedFormat(versions: FormatVersion[], change: FormatChange): FormatSettings | undefined {
  const present = presentFormat(versions)
  const next = {
    format: change.format ?? present.format,
    include_client_user_id: change.include_client_user_id ?? present.include_client_user_id,
  }
  const isSame = next.format === present.format && next.include_client_user_id === present.include_client_user_id
  return isSame ? undefined : next
}
