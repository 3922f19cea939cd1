/** The systemd unit of an agent; program and file may be the variables of a shell that writes it. */
export function agentUnit({ program, config }: { readonly program: string; readonly config: string }): string {
  return `[Unit]
Description=Muster agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${program} --config ${config}
Restart=always
RestartSec=5
KillMode=process
LimitNOFILE=524288

[Install]
WantedBy=multi-user.target`;
}
