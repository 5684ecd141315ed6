export declare const strippedFile: (source: string | Uint8Array) => URL
