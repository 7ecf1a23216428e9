"""Text in quotes that the shell runs all the same: it calculates with it, or takes it for the name of a variable."""

from guard_places import otherwise

HIDDEN = r"""
[[ 'a[$(CMD)]' -eq 1 ]]
[[ "1" -lt 'a[`CMD`]' ]]
x='a[$(CMD)]'; [[ $x -eq 1 ]]
x='a[$(CMD)]'; [[ x -ge 1 ]]
x='a[$(CMD)]'; [ $x -eq 1 ]
[ -v 'a[$(CMD)]' ]
command test -v 'a[$(CMD)]'
[[ -v 'a[$(CMD)]' ]]
x='a[$(CMD)]'; [ -v "$x" ]
declare -i a='b[$(CMD)]'
declare -i a; a='b[$(CMD)]'
typeset -i a='b[$(CMD)]'
export -i a='b[$(CMD)]'
declare -ri a='b[$(CMD)]'
command declare -i a='b[$(CMD)]'
declare -i 'a=b[$(CMD)]'
export 'a[$(CMD)]'=1
x='a[$(CMD)]'; declare "$x=1"
declare -a 'a=($(CMD))'
x='a[$(CMD)]'; echo $((x+1))
x='a[$(CMD)]'; echo $[x]
echo $(( 'a[$(CMD)]' ))
x='a[$(CMD)]'; ((x))
x='a[$(CMD)]'; if ((x > 1)); then echo; fi
x=y y='a[$(CMD)]'; echo $((x))
: ${x:='a[$(CMD)]'}; ((x))
x='a[$(CMD)]'; for ((i=x;i<1;i++)); do :; done
x='a[$(CMD)]'; let y=x+1
let 'x=a[$(CMD)]'
x='a[$(CMD)]'; y=abc; echo ${y:x}
x='a[$(CMD)]'; y=abc; echo ${y:0:x}
x='a[$(CMD)]'; a=(1 2); echo ${a[@]:x}
x='a[$(CMD)]'; echo "${y[$x]}"
x='a[$(CMD)]'; y[x]=1
x='a[$(CMD)]'; echo "${!x}"
x='$(CMD)'; echo "${x@P}"
unset 'a[$(CMD)]'
read 'a[$(CMD)]' <<< x
printf -v 'a[$(CMD)]' x
mapfile 'a[$(CMD)]' < f
wait -p 'a[$(CMD)]' -n
getopts ab 'a[$(CMD)]' -a
compgen -W '$(CMD)'
""".strip().split("\n")
STEERS = """
printf -v PATH .
x=PATH; printf -v $x .
read PATH <<< .
read -r LD_PRELOAD < x; ls
read GIT_SSH_COMMAND < x; git fetch
mapfile GIT_DIR < x
for PATH in .; do ls; done
select PATH in .; do ls; done
for LD_PRELOAD in ./x.so; do ls; done
getopts a PATH
let PATH=1
declare PATH=.
export PATH=.:$PATH
export PYTHONPATH=/tmp/x
PYTHONPATH=../x python -m app
printf -v BASH_ENV %s ./x; bash -c ls
mapfile -C 'touch x;' -c 1 a < f
compgen -F unknown_function
echo "${1@P}"
""".strip().split("\n")
PLAIN = """
[[ $x -eq 1 ]]
[[ -v FOO ]]
[ "$n" -gt 3 ]
i=0; while (( i < 5 )); do ((i++)); done
for ((i=0;i<5;i++)); do echo $i; done
n=$(wc -l < a); if (( n > 5 )); then echo big; fi
echo $(( $(wc -l < a) + 1 ))
declare -i n=3; n+=1; echo $n
declare -A m; m[a]=1; m[$k]=2; echo ${m[a]} "${m[$k]}"
a=(1 2 3); echo ${a[0]} ${a[i]} "${a[@]}" ${a[-1]}
read -r a b < f; echo $((a+b))
unset x y 'a[0]'
printf -v 'a[1]' x
s=abc; n=2; echo ${s:0:1} ${s:n} ${s: -1}
name=HOME; echo ${!name} ${!prefix*} ${!a[@]}
[[ 'a[1]' == b ]]
x='use `this`'; echo "${x:0:3}"
compgen -W 'a b' a
getopts ab: opt
wait $!
PYTHONPATH=src:$PYTHONPATH pytest
export PYTHONPATH=$PWD/src
""".strip().split("\n")


def test_what_is_hidden_in_quotes_is_judged_as_if_it_were_run() -> None:
    assert otherwise("ask", [command.replace("CMD", "ls") for command in HIDDEN]) == {}
    assert otherwise("deny", [command.replace("CMD", "rm -rf /") for command in HIDDEN]) == {}


def test_variables_that_decide_what_runs_are_asked_about_however_they_are_set() -> None:
    assert otherwise("ask", STEERS) == {}


def test_plain_calculation_needs_no_yes() -> None:
    assert otherwise("allow", PLAIN) == {}
