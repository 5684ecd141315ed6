import type { Input, Output, Row } from '../contract/endpoint.ts'
import type { AppInRequest } from '../platform/app.ts'
import type { LabCaller, LinkCaller, ManagementCaller, SessionCaller, TeamCaller } from '../platform/callers.ts'

type CallerOf = {
  team: TeamCaller
  management: ManagementCaller
  lab: LabCaller
  link: LinkCaller
  session: SessionCaller
  none: undefined
}

/** An action for every endpoint of a part of the contract. */
export type HandlersOf<E extends Record<keyof E, Row>> = {
  [N in keyof E]: (app: AppInRequest, caller: CallerOf[E[N]['auth']], input: Input<E[N]>) => Promise<Output<E[N]>>
}
