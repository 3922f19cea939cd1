import type { Naming } from '#boot/script.ts';
import { quoted } from '#core/shell-text.ts';
import type { Who } from './marks.ts';

// The session token of the metadata service goes by stdin or a file: other users can read the arguments of a program.
const ASK = `metadata=\${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}
metadata=\${metadata%/}/latest
ttl='X-aws-ec2-metadata-token-ttl-seconds: 300'
if has curl; then token=$(curl -fsS -X PUT -H "$ttl" "$metadata/api/token")
else token=$(wget -q -O - --method=PUT --header="$ttl" "$metadata/api/token"); fi
ask() {
  if has curl; then printf 'header = "X-aws-ec2-metadata-token: %s"\\n' "$token" | curl -fsS -K - "$metadata/meta-data/$1"
  else
    printf 'header = X-aws-ec2-metadata-token: %s\\n' "$token" > "$work/wgetrc"
    wget -q -O - --config="$work/wgetrc" "$metadata/meta-data/$1"
  fi
}`;

/** An EC2 machine knows its name, finds it by its place in the launch, or is called as its instance. */
export function namingOf(who: Who | 'instance id'): Naming {
  if (who === 'instance id') return { shell: `${ASK}\nname=$(ask instance-id)` };
  if ('name' in who) return { name: who.name };
  // The same two digits as `nameAt`: the place of this machine among those that were started together.
  return {
    shell: `${ASK}
place=$(ask ami-launch-index)
digit() { printf %s 0123456789abcdefghjkmnpqrstvwxyz | cut -c "$(($1 + 1))"; }
name=${quoted(who.stem)}$(digit $((place / 32 % 32)))$(digit $((place % 32)))`,
  };
}
