import { Head } from '../../ui/head.tsx'

export const LabAccounts = () => <Head title="LabAccounts" />
