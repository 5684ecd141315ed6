import { Head } from '../../ui/head.tsx'

export const Webhooks = () => <Head title="Webhooks" />
