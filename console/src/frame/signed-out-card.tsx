import type { ComponentChildren } from 'preact'
import { Brand } from './brand.tsx'

export const SignedOutCard = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="sign-in">
    <main>
      <div class="brand">
        <Brand /> Assay
      </div>
      <div class="card stack">
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  </div>
)
