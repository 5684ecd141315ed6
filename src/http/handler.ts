import type { Input, Output, Row } from '../contract/endpoint.ts'
import type { AppInRequest } from '../platform/app.ts'
import type { LabCaller, LinkCaller, ManagementCaller, SessionCaller, TeamCaller } from '../platform/callers.ts'

type CallerByAuth = {
  team: TeamCaller
  management: ManagementCaller
  lab: LabCaller
  link: LinkCaller
  session: SessionCaller
  none: undefined
}

/** Requires one action, typed by its row, for every endpoint in E. */
export type HandlersOf<E extends Record<keyof E, Row>> = {
  [N in keyof E]: (app: AppInRequest, caller: CallerByAuth[E[N]['auth']], input: Input<E[N]>) => Promise<Output<E[N]>>
}
