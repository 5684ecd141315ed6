import type { Input, Output, Row } from '../contract/endpoint.ts'
import type { App, LabCaller, LinkCaller, ManagementCaller, SessionCaller, TeamCaller } from '../platform/app.ts'

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
  [N in keyof E]: (app: App, caller: CallerOf[E[N]['auth']], input: Input<E[N]>) => Promise<Output<E[N]>>
}
