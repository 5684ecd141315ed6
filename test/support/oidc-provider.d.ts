/** The part of the package that the tests use; it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> }
  type Context = {
    oidc: {
      session?: { accountId?: string }
      provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant }
    }
  }

  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        interactions: { url(context: Context, interaction: { uid: string }): string }
        findAccount(context: Context, accountId: string): { accountId: string; claims(): Promise<object> }
        loadExistingGrant(context: Context): Promise<Grant>
        [setting: string]: unknown
      },
    )
    callback(): RequestListener
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: { login: { accountId: string } }): Promise<void>
  }
}
